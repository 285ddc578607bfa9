import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Soon } from '../soon.ts';
import type { Admission } from './admission.ts';
import type { AskStore } from './fast-store.ts';
import type { LaneAnswer } from './head.ts';
import type { Outbox } from './outbox.ts';
import type { PageAnswers } from './page-answers.ts';
import type { PetAnswers } from './pet-answers.ts';
import type { ReadyAnswer } from './ready-answers.ts';
import type { CountedReadyAnswers } from './ready-metrics.ts';
import type { CountingRequestLog } from './request-metrics.ts';

export interface FastReadOptions {
  readonly admission: Admission;
  readonly ready: CountedReadyAnswers;
  readonly pageAnswers: PageAnswers;
  readonly petAnswers: PetAnswers;
  readonly outbox: Outbox;
  readonly createRequestId: () => string;
  readonly requestLog: CountingRequestLog;
  readonly send: (response: ServerResponse, answer: LaneAnswer) => void;
  readonly askStore: AskStore;
}

/**
 * Answers a plain GET of what is kept ready from memory, and one of an animal or a page that is not from the store. Each
 * other one, and what may not be answered, goes the long way.
 */
export function createFastRead(options: FastReadOptions) {
  const { admission, ready, pageAnswers, petAnswers, outbox, createRequestId, requestLog, send, askStore } =
    options;

  /** What makes the answer to a target; null where only the framework can tell. */
  function findMaker(url: string): (() => Soon<ReadyAnswer>) | null {
    const petId = petAnswers.readId(url);
    if (petId !== null) return () => petAnswers.make(url, petId);
    const query = pageAnswers.readQuery(url);
    if (query === null) return null;
    return () => {
      // It takes ten times as long to make a page as to send an answer, so what is held goes first.
      outbox.flush();
      return pageAnswers.make(url, query);
    };
  }

  return function read(request: IncomingMessage, response: ServerResponse, longWay: RequestListener): void {
    const { url = '' } = request;
    const answer = ready.find(url);
    const make = answer === null ? findMaker(url) : null;
    // Asked once, as it counts the request.
    const admitted = answer === null && make === null ? null : admission.admit(request, 'pets:read');

    if (admitted !== null && answer !== null) {
      const { operation, lines, body } = answer;
      const limit = admitted.decision.headers;
      send(response, { status: 200, requestId: createRequestId(), limit, lines, body });
      ready.noteSent();
      requestLog.noteReady(operation);
    } else if (admitted !== null && make !== null) {
      askStore({ request, response, admitted, longWay }, make, describeRead);
    } else {
      longWay(request, response);
    }
  };
}

const describeRead = ({ operation, lines, body }: ReadyAnswer) =>
  ({ operation, status: 200, lines, body }) as const;
