import { after, type Soon } from '../soon.ts';
import type { Answer } from './response/answer.ts';
import type { Access, Call, Route } from './route.ts';

/**
 * A GET route that is not part of the interface and reads no query: a documentation page or an endpoint for operators.
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
    run: (call) => after(answer(call), (made) => ({ answer: made, dependsOn: null })),
  };
}
