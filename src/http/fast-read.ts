import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admission } from './admission.ts';
import type { LaneAnswer } from './head.ts';
import type { CountedReadyAnswers } from './ready-metrics.ts';
import type { CountingRequestLog } from './request-metrics.ts';

export interface FastReadOptions {
  readonly admission: Admission;
  readonly ready: CountedReadyAnswers;
  readonly createRequestId: () => string;
  readonly requestLog: CountingRequestLog;
  readonly send: (response: ServerResponse, answer: LaneAnswer) => void;
}

/** Answers a plain GET of what is kept ready and tells so, or leaves it untouched. */
export function createFastRead({ admission, ready, createRequestId, requestLog, send }: FastReadOptions) {
  return function read(request: IncomingMessage, response: ServerResponse): boolean {
    const answer = ready.find(request.url ?? '');
    const admitted = answer === null ? null : admission.admit(request, 'pets:read');
    if (answer === null || admitted === null) return false;
    const { lines, body } = answer;
    send(response, {
      status: 200,
      requestId: createRequestId(),
      limit: admitted.decision.headers,
      lines,
      body,
    });
    ready.noteSent();
    requestLog.noteReady(answer.operation);
    return true;
  };
}
