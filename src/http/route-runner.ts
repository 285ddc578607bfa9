import { describeHeld } from '../limits/rules/decision.ts';
import type { Exchange } from './exchange.ts';
import type { Gate } from './request/admission.ts';
import { hasBody, readBody } from './request/body.ts';
import { readIdempotency } from './request/idempotency.ts';
import { isStrict } from './request/strict.ts';
import type { Responder } from './responder.ts';
import type { ResponseCache } from './response/response-cache.ts';
import type { Call, Route } from './route.ts';
import type { Steps } from './steps.ts';

/** Responds to an admitted request from the cache, or runs the route with the parsed query and body. */
export type RunRoute = (exchange: Exchange, route: Route) => void;

export function createRouteRunner(
  cache: ResponseCache,
  gate: Gate,
  { send, fail, track }: Responder,
  { attempt, proceed }: Steps,
): RunRoute {
  function run(exchange: Exchange, route: Route, strict: boolean, bytes: Buffer | null): void {
    proceed(exchange, route.run(readCall(exchange, route, strict, bytes)), send);
  }

  /** The version is read before the answer is made. Otherwise a change between the two would go unnoticed. */
  function runCached(exchange: Exchange, route: Route, version: string | null): void {
    const key = exchange.request.url ?? '';
    const cached = cache.find(key, version);
    if (cached !== null) send(exchange, cached);
    else
      proceed(exchange, route.run(readCall(exchange, route, false, null)), (_, answer) => {
        cache.keep(key, answer, version);
        send(exchange, answer);
      });
  }

  /** A body may take 30 s to arrive. In this time, the key may be revoked or the account suspended. */
  function confirm(exchange: Exchange, next: () => void): void {
    proceed(exchange, gate.confirm(exchange), (_, refusal) => {
      if (refusal === null) next();
      else fail(exchange, refusal);
    });
  }

  function begin(exchange: Exchange, route: Route, strict: boolean): void {
    const { request } = exchange;
    if (route.body === null || (route.body.isOptional && !hasBody(request.headers))) {
      // Discards the body as it arrives. Otherwise its chunks would stay in memory until the response is sent.
      if (hasBody(request.headers)) request.resume();
      run(exchange, route, strict, null);
    } else {
      route.body.checkType(request.headers);
      track(exchange);
      readBody(
        request,
        (bytes, isLate) =>
          attempt(exchange, () => {
            if (isLate) confirm(exchange, () => run(exchange, route, strict, bytes));
            else run(exchange, route, strict, bytes);
          }),
        (error) => fail(exchange, error),
      );
    }
  }

  return (exchange, route) => {
    const strict = isStrict(exchange.request.headers['prefer']);
    if (!route.isCached || strict) begin(exchange, route, strict);
    else {
      if (hasBody(exchange.request.headers)) exchange.request.resume();
      proceed(exchange, cache.readVersion(), (_, version) => runCached(exchange, route, version));
    }
  };
}

/** Records how long a response was held. Also renews its rate limit headers, which have the seconds until a reset. */
function noteHeld(exchange: Exchange, heldMs: number): void {
  const { caller, usage } = exchange;
  exchange.heldMs = heldMs;
  if (caller !== null && usage !== null) exchange.limit = describeHeld(usage, caller.limits, heldMs);
}

/** Throws AppError if the query, the body or the `Idempotency-Key` is invalid. */
function readCall(exchange: Exchange, route: Route, strict: boolean, bytes: Buffer | null): Call {
  const { request, match, caller, usage } = exchange;
  const { headers } = request;
  return {
    params: match.params,
    query: route.readQuery(match.query, strict),
    body: bytes === null ? null : route.body?.parse(bytes, strict),
    headers,
    caller,
    usage,
    signedIn: exchange.signedIn,
    idempotency:
      route.idempotentOperation && caller && bytes
        ? readIdempotency(headers, caller, route.idempotentOperation, bytes)
        : null,
    onGone: (listener) => exchange.response.once('close', listener),
    noteHeld: (ms) => noteHeld(exchange, ms),
  };
}
