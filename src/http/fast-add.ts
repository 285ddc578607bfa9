import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Added, Catalogue } from '../pets/catalogue.ts';
import type { Admission, Admitted } from './admission.ts';
import { type LaneAnswer, toLines } from './head.ts';
import { describeAdded, takeNewPet } from './new-pet.ts';
import type { CountingRequestLog } from './request-metrics.ts';
import type { Turns } from './turns.ts';

export interface FastAddOptions {
  readonly admission: Admission;
  readonly catalogue: Catalogue;
  readonly turns: Turns;
  readonly createRequestId: () => string;
  readonly requestLog: CountingRequestLog;
  readonly send: (response: ServerResponse, answer: LaneAnswer) => void;
  /** What the addresses of animals begin with. */
  readonly baseUrl: string;
}

/**
 * Adds the animal of a plain POST whose body has come whole, and answers it once the animal is on disk. Where that
 * cannot be, for whatever reason, the request goes the long way with what is known of it.
 */
export function createFastAdd(options: FastAddOptions) {
  const { admission, catalogue, turns, createRequestId, requestLog, send, baseUrl } = options;

  function answer(response: ServerResponse, { decision, caller }: Admitted, added: Added, ms: number): void {
    const requestId = createRequestId();
    const { headers, body } = describeAdded(added, baseUrl);
    send(response, { status: 201, requestId, limit: decision.headers, lines: toLines(headers), body });
    requestLog.noteAdded({ requestId, caller, ms });
  }

  return function add(request: IncomingMessage, response: ServerResponse, longWay: RequestListener): void {
    const startedAtMs = performance.now();
    const isWhole = request.readableLength === Number(request.headers['content-length']);
    const admitted = isWhole ? admission.admit(request, 'pets:write') : null;
    const wanted = admitted && takeNewPet(request, admitted.caller);
    if (admitted === null || wanted === null) {
      if (admitted !== null) admission.note(request, { decision: admitted.decision, failure: null, ms: 0 });
      longWay(request, response);
      return;
    }
    turns.begin(request.socket, { response, reply: null });

    function fail(failure: Error, { decision }: Admitted): void {
      if (response.headersSent) {
        response.destroy();
        return;
      }
      admission.note(request, { decision, failure, ms: performance.now() - startedAtMs });
      longWay(request, response);
    }

    catalogue
      .add(wanted.newPet, wanted.idempotency)
      .then((added) => {
        answer(response, admitted, added, performance.now() - startedAtMs);
        turns.end(request.socket, response);
      })
      .catch((failure: Error) => fail(failure, admitted));
  };
}
