import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Catalogue } from '../pets/catalogue.ts';
import type { Admission } from './admission.ts';
import type { AskStore } from './fast-store.ts';
import { createAddedLines, takeNewPet } from './new-pet.ts';

export interface FastAddOptions {
  readonly admission: Admission;
  readonly catalogue: Catalogue;
  readonly askStore: AskStore;
  /** What the addresses of animals begin with. */
  readonly baseUrl: string;
}

/**
 * Adds the animal of a plain POST whose body has come whole, and answers it once the animal is on disk. Where that
 * cannot be, for whatever reason, the request goes the long way with what is known of it.
 */
export function createFastAdd({ admission, catalogue, askStore, baseUrl }: FastAddOptions) {
  const describe = createAddedLines(baseUrl);

  return function add(request: IncomingMessage, response: ServerResponse, longWay: RequestListener): void {
    const isWhole = request.readableLength === Number(request.headers['content-length']);
    const admitted = isWhole ? admission.admit(request, 'pets:write') : null;
    const wanted = admitted && takeNewPet(request, admitted.caller);
    if (admitted === null || wanted === null) {
      if (admitted !== null) admission.note(request, { decision: admitted.decision, failure: null, ms: 0 });
      longWay(request, response);
      return;
    }
    askStore(
      { request, response, admitted, longWay },
      () => catalogue.add(wanted.newPet, wanted.idempotency),
      describe,
    );
  };
}
