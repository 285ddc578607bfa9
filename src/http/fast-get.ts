import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { parseCanonicalInt64 } from '../int64.ts';
import type { Admission } from './admission.ts';
import type { AskStore } from './fast-store.ts';
import type { PetAnswers } from './pet-answers.ts';

export interface FastGetOptions {
  readonly admission: Admission;
  readonly petAnswers: PetAnswers;
  readonly askStore: AskStore;
}

const petsPath = '/v1/pets/';

/** Answers a plain GET of an animal that is not kept ready, or leaves it untouched and gives false. */
export function createFastGet({ admission, petAnswers, askStore }: FastGetOptions) {
  return function get(request: IncomingMessage, response: ServerResponse, longWay: RequestListener): boolean {
    const { url = '' } = request;
    const id = url.startsWith(petsPath) ? parseCanonicalInt64(url.slice(petsPath.length)) : null;
    if (id === null || !petAnswers.isServed()) return false;
    const admitted = admission.admit(request, 'pets:read');
    if (admitted === null) return false;
    askStore(
      { request, response, admitted, longWay },
      () => petAnswers.make(url, id),
      ({ lines, body }) => ({ status: 200, lines, body }),
    );
    return true;
  };
}
