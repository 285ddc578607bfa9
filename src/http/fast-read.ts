import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admission } from './admission.ts';
import type { ReadyAnswers } from './ready-answers.ts';
import type { CountingRequestLog } from './request-metrics.ts';

export interface FastReadOptions {
  readonly admission: Admission;
  readonly ready: ReadyAnswers;
  readonly createRequestId: () => string;
  readonly requestLog: CountingRequestLog;
}

/** Answers a plain GET of what is kept ready and tells so, or leaves it untouched. */
export function createFastRead({ admission, ready, createRequestId, requestLog }: FastReadOptions) {
  return function read(request: IncomingMessage, response: ServerResponse): boolean {
    const target = request.url ?? '';
    const answer = ready.find(target);
    const admitted = answer === null ? null : admission.admit(request, 'pets:read');
    if (answer === null || admitted === null) return false;
    response.writeHead(200, {
      'x-request-id': createRequestId(),
      'x-content-type-options': 'nosniff',
      ...admitted.decision.headers,
      ...answer.headers,
    });
    response.end(answer.body);
    requestLog.noteReady(target);
    return true;
  };
}
