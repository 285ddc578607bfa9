import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Admission } from './admission.ts';
import type { AskStore } from './fast-store.ts';
import type { LaneAnswer } from './head.ts';
import type { PetAnswers } from './pet-answers.ts';
import type { CountedReadyAnswers } from './ready-metrics.ts';
import type { CountingRequestLog } from './request-metrics.ts';

export interface FastReadOptions {
  readonly admission: Admission;
  readonly ready: CountedReadyAnswers;
  readonly petAnswers: PetAnswers;
  readonly createRequestId: () => string;
  readonly requestLog: CountingRequestLog;
  readonly send: (response: ServerResponse, answer: LaneAnswer) => void;
  readonly askStore: AskStore;
}

/**
 * Answers a plain GET of what is kept ready from memory, and one of an animal that is not from the store. Each other one, and
 * what may not be answered, goes the long way.
 */
export function createFastRead(options: FastReadOptions) {
  const { admission, ready, petAnswers, createRequestId, requestLog, send, askStore } = options;

  return function read(request: IncomingMessage, response: ServerResponse, longWay: RequestListener): void {
    const { url = '' } = request;
    const answer = ready.find(url);
    const petId = answer === null ? petAnswers.readId(url) : null;
    // Asked once, as it counts the request.
    const admitted = answer === null && petId === null ? null : admission.admit(request, 'pets:read');

    if (admitted !== null && answer !== null) {
      const { operation, lines, body } = answer;
      const limit = admitted.decision.headers;
      send(response, { status: 200, requestId: createRequestId(), limit, lines, body });
      ready.noteSent();
      requestLog.noteReady(operation);
    } else if (admitted !== null && petId !== null) {
      askStore(
        { request, response, admitted, longWay },
        () => petAnswers.make(url, petId),
        ({ lines, body }) => ({ status: 200, lines, body }),
      );
    } else {
      longWay(request, response);
    }
  };
}
