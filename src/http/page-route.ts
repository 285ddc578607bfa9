import type { Soon } from '../soon.ts';
import type { Answer } from './response/answer.ts';
import type { Access, Call, Route } from './route.ts';

/**
 * Returns a GET route that is not part of the API and ignores its query, such as a documentation page or `/metrics`.
 */
export function createPageRoute(
  path: string,
  access: Access,
  securityLines: string | null,
  answer: (call: Call) => Soon<Answer>,
): Route {
  return {
    method: 'GET',
    path,
    access,
    scope: null,
    removedAtMs: null,
    announcement: '',
    securityLines,
    isCached: false,
    idempotentOperation: null,
    readQuery: () => null,
    body: null,
    run: answer,
  };
}
