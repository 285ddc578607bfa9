import { hash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../accounts/account.ts';
import { AppError } from '../errors.ts';
import { hashIdempotencyKey } from '../idempotency/answer-once.ts';
import { type Decision, decideLater } from '../limits/rules/decision.ts';
import { isStrict } from './request/preferences.ts';
import type { Body } from './request/receive-body.ts';
import type { Call, Route, SignedIn } from './route.ts';
import type { Match } from './router.ts';

/** A request and its response, with what the pipeline knows about them. */
export type Exchange = ReturnType<typeof openExchange>;

export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  id: string,
  match: Match,
  body: Body | null = null,
) {
  return {
    request,
    response,
    id,
    /** Arrival time, from `performance.now()`. A pipelined request arrives when the request before it is answered. */
    startedAtMs: performance.now(),
    match,
    /** Null if the request has none. */
    body,
    /** Null until the key is verified, and for requests without a valid key. */
    caller: null as Caller | null,
    /** The operator, for requests to the console and to the operator's API. Null for all other requests. */
    signedIn: null as SignedIn | null,
    /** What the rate limits say. Null until the request is counted, and on the operator's port, which has no rate limits. */
    decision: null as Decision | null,
    /** The error that made the body unreadable before the request was admitted. Null if there is none. */
    brokenBy: null as AppError | null,
    /** True while the client waits for `100 Continue` before it sends the body. */
    awaitsContinue: false,
    /** True once the turn of the request has come. */
    hasBegun: false,
    /** True once the gate has decided on the request, even if it refused the request. */
    isAdmitted: false,
    isAnswered: false,
    /** The parsed body. Null until it is valid, and if there is none. */
    given: null as unknown,
    /** The error that the client got. Null if there is none. */
    failure: null as AppError | null,
    /** Milliseconds that the response was held back: the client asked for it, or a refusal waited for its pace. */
    heldMs: 0,
  };
}

/** Returns a function that creates request ids: a random prefix for this process, then a count. */
export function createRequestIds(): () => string {
  const start = `req_${randomBytes(6).toString('hex')}_`;
  let count = 0;
  return () => {
    count += 1;
    return start + count.toString(36);
  };
}

/** Parses a request for its route. `bytes` is null if the route gets no body. Throws AppError if a part is invalid. */
export function readCall(exchange: Exchange, route: Route, bytes: Buffer | null): Call {
  const { request, response, match, caller, decision, signedIn } = exchange;
  const { headers } = request;
  const strict = isStrict(headers['prefer']);
  const query = route.readQuery(match.query, strict);
  exchange.given = bytes === null ? null : route.body?.parse(bytes, strict);
  return {
    params: match.params,
    query,
    body: exchange.given,
    headers,
    caller,
    usage: decision?.usage ?? null,
    signedIn,
    idempotency:
      route.idempotentOperation && caller && bytes
        ? readIdempotency(headers, caller.accountId, route.idempotentOperation, bytes)
        : null,
    onGone: (listener) => response.once('close', listener),
    noteHeld: (ms) => noteHeld(exchange, ms),
  };
}

/** Records how long a response was held. Also renews its rate limit headers, which have the seconds until a reset. */
export function noteHeld(exchange: Exchange, heldMs: number): void {
  exchange.heldMs = heldMs;
  if (exchange.decision !== null) exchange.decision = decideLater(exchange.decision, heldMs);
}

const keyText = /^[!-~]{1,255}$/;

function readIdempotency(headers: IncomingHttpHeaders, accountId: bigint, operation: string, bytes: Buffer) {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !keyText.test(key))
    throw new AppError('invalid_parameter', 'Idempotency-Key must have 1 to 255 visible ASCII characters');
  const keyHash = hashIdempotencyKey(accountId, key);
  return { accountId, keyHash, operation, bodyHash: hash('sha256', bytes, 'buffer') };
}
