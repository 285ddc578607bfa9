import type { PetSelection } from '../pets/pet-selection.ts';
import type { Stamp } from '../pets/stamps.ts';
import type { Exchange } from './exchange.ts';
import { readBody } from './request/body.ts';
import { readIdempotency } from './request/idempotency.ts';
import { isStrict } from './request/strict.ts';
import type { Responder } from './responder.ts';
import type { CacheKey, ResponseCache } from './response/response-cache.ts';
import type { Call, Route } from './route.ts';
import type { Steps } from './steps.ts';

/** Answers a request that may go on: from the cache, or by running its route on its parsed query and body. */
export type RunRoute = (exchange: Exchange, route: Route) => void;

export function createRouteRunner(
  cache: ResponseCache<PetSelection, Stamp>,
  { send, fail, track }: Responder,
  { attempt, proceed }: Steps,
): RunRoute {
  function run(exchange: Exchange, route: Route, strict: boolean, bytes: Buffer | null): void {
    const call = readCall(exchange, route, strict, bytes);
    const version = route.isCached ? cache.readVersion() : null;
    proceed(exchange, route.run(call), (_, { answer, dependsOn, heldMs = 0 }) => {
      exchange.heldMs = heldMs;
      if (dependsOn !== null) cache.keep(route, cacheKeyOf(exchange), answer, dependsOn, version);
      send(exchange, answer);
    });
  }

  return (exchange, route) => {
    const { request } = exchange;
    const strict = isStrict(request.headers['prefer']);
    const cached = route.isCached && !strict ? cache.find(route, cacheKeyOf(exchange)) : null;
    if (cached !== null) send(exchange, cached);
    else if (route.body === null) run(exchange, route, strict, null);
    else {
      route.body.checkType(request.headers);
      track(exchange);
      readBody(
        request,
        (bytes) => attempt(exchange, () => run(exchange, route, strict, bytes)),
        (error) => fail(exchange, error),
      );
    }
  };
}

/** Parses and validates a request. Throws AppError. */
function readCall(exchange: Exchange, route: Route, strict: boolean, bytes: Buffer | null): Call {
  const { request, match, caller } = exchange;
  const { headers } = request;
  return {
    params: match.params,
    query: route.readQuery(match.query, strict),
    body: bytes === null ? null : route.body?.parse(bytes, strict),
    headers,
    caller,
    idempotency:
      route.idempotentOperation && caller && bytes
        ? readIdempotency(headers, caller, route.idempotentOperation, bytes)
        : null,
    onGone: (listener) => exchange.response.once('close', listener),
  };
}

/** A number is found faster than a text, which V8 first has to look for among all texts that it knows. */
const shortNumber = /^[1-9]\d{0,8}$/;

function cacheKeyOf({ match: { params, query } }: Exchange): CacheKey {
  for (const name in params) {
    const value = params[name] ?? '';
    if (query !== '') return `${value.length} ${value}?${query}`;
    return shortNumber.test(value) ? Number(value) : value;
  }
  return query;
}
