import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../accounts/account.ts';
import type { AppError } from '../errors.ts';
import type { LimitHeaders, Usage } from '../limits/rules/decision.ts';
import type { SignedIn } from './route.ts';
import type { Match } from './router.ts';

/** A request and its response, with what the pipeline knows about them. */
export type Exchange = ReturnType<typeof openExchange>;

export function openExchange(request: IncomingMessage, response: ServerResponse, id: string, match: Match) {
  return {
    request,
    response,
    id,
    /** Arrival time, from `performance.now()`. */
    startedAtMs: performance.now(),
    match,
    /** Null until the key is verified, and for requests without a valid key. */
    caller: null as Caller | null,
    /** The signed-in operator, for requests to the console. Null for all other requests. */
    signedIn: null as SignedIn | null,
    /** The rate limit headers. Null until they are known, and on the operator's port, which has no rate limits. */
    limit: null as LimitHeaders | null,
    /**
     * The rate limit usage of the account after this request. Without a caller, the usage of the address. Null until the
     * request is counted.
     */
    usage: null as Usage | null,
    /** The error that made the body unreadable before the request was admitted. Null if there is none. */
    brokenBy: null as AppError | null,
    /** True while the client waits for `100 Continue` before it sends the body. */
    awaitsContinue: false,
    /** True once the gate has decided on the request, even if it refused the request. */
    isAdmitted: false,
    isAnswered: false,
    /** The error that the client got. Null if there is none. */
    failure: null as AppError | null,
    /** Milliseconds that the response was held back because the client asked for it. */
    heldMs: 0,
  };
}

/**
 * Returns a function that creates request ids. A counter makes them unique in this process. A random prefix makes them
 * unique across processes.
 */
export function createRequestIds(): () => string {
  const start = `req_${randomBytes(6).toString('hex')}_`;
  let count = 0;
  return () => {
    count += 1;
    return start + count.toString(36);
  };
}
