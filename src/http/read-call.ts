import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../accounts/account.ts';
import { AppError } from '../errors.ts';
import { hashIdempotencyKey, type Idempotency } from '../idempotency/answer-once.ts';
import { describeHeld } from '../limits/rules/decision.ts';
import type { Exchange } from './exchange.ts';
import { isStrict } from './request/preferences.ts';
import type { Call, Route } from './route.ts';

/**
 * Parses a request for its route. `bytes` is the body, or null if the route takes none. Throws AppError if the query, the
 * body or the `Idempotency-Key` is invalid.
 */
export function readCall(exchange: Exchange, route: Route, bytes: Buffer | null): Call {
  const { request, response, match, caller, usage, signedIn } = exchange;
  const { headers } = request;
  const strict = isStrict(headers['prefer']);
  return {
    params: match.params,
    query: route.readQuery(match.query, strict),
    body: bytes === null ? null : route.body?.parse(bytes, strict),
    headers,
    caller,
    usage,
    signedIn,
    idempotency:
      route.idempotentOperation && caller && bytes
        ? readIdempotency(headers, caller, route.idempotentOperation, bytes)
        : null,
    onGone: (listener) => response.once('close', listener),
    noteHeld: (ms) => noteHeld(exchange, ms),
  };
}

/** Records how long a response was held. Also renews its rate limit headers, which have the seconds until a reset. */
function noteHeld(exchange: Exchange, heldMs: number): void {
  const { caller, usage } = exchange;
  exchange.heldMs = heldMs;
  if (caller !== null && usage !== null) exchange.limit = describeHeld(usage, caller.limits, heldMs);
}

const keyText = /^[!-~]{1,255}$/;

/**
 * Returns the hashed `Idempotency-Key` of a request, with the operation and the hash of the body. Returns null if the
 * header is absent. Throws `invalid_parameter` if the header is invalid.
 */
function readIdempotency(
  headers: IncomingHttpHeaders,
  { accountId }: Caller,
  operation: string,
  bytes: Uint8Array,
): Idempotency | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !keyText.test(key))
    throw new AppError('invalid_parameter', 'Idempotency-Key must have 1 to 255 visible ASCII characters');
  const keyHash = hashIdempotencyKey(accountId, key);
  return { accountId, keyHash, operation, bodyHash: hash('sha256', bytes, 'buffer') };
}
