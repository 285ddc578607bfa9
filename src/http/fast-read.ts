import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admission } from './admission.ts';
import { listHeaders } from './header-list.ts';
import type { CountedReadyAnswers } from './ready-metrics.ts';
import type { CountingRequestLog } from './request-metrics.ts';

export interface FastReadOptions {
  readonly admission: Admission;
  readonly ready: CountedReadyAnswers;
  readonly createRequestId: () => string;
  readonly requestLog: CountingRequestLog;
}

/** Answers a plain GET of what is kept ready and tells so, or leaves it untouched. */
export function createFastRead({ admission, ready, createRequestId, requestLog }: FastReadOptions) {
  return function read(request: IncomingMessage, response: ServerResponse): boolean {
    const answer = ready.find(request.url ?? '');
    const admitted = answer === null ? null : admission.admit(request, 'pets:read');
    if (answer === null || admitted === null) return false;
    response.writeHead(200, listHeaders(createRequestId(), admitted.decision.headers, answer.headers));
    response.end(answer.body);
    ready.noteSent();
    requestLog.noteReady(answer.operation);
    return true;
  };
}
