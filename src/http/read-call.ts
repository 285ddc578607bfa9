import { describeHeld } from '../limits/rules/decision.ts';
import type { Exchange } from './exchange.ts';
import { readIdempotency } from './request/idempotency.ts';
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
