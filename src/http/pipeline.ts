import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { coversScope } from '../accounts/account.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../observability/log.ts';
import type { PetSelection } from '../pets/pet-selection.ts';
import type { Stamp } from '../pets/stamps.ts';
import type { Soon } from '../soon.ts';
import type { InFlight } from './connection/in-flight.ts';
import { type Exchange, openExchange } from './exchange.ts';
import type { Admission, Gate } from './request/admission.ts';
import { readBody } from './request/body.ts';
import { readIdempotency } from './request/idempotency.ts';
import { isStrict } from './request/strict.ts';
import type { RequestObserver } from './request-log.ts';
import type { Answer } from './response/answer.ts';
import type { Cors } from './response/cors.ts';
import { removedError } from './response/deprecation.ts';
import { errorStatus, toAppError } from './response/errors.ts';
import { toLines } from './response/header-lines.ts';
import type { CacheKey, ResponseCache } from './response/response-cache.ts';
import type { Send } from './response/send.ts';
import type { Call, Route } from './route.ts';
import type { Router } from './router.ts';

export interface PipelineOptions {
  readonly router: Router;
  readonly gate: Gate;
  readonly cors: Cors;
  readonly cache: ResponseCache<PetSelection, Stamp>;
  readonly send: Send;
  readonly makeErrorAnswer: (error: AppError, lines?: string) => Answer;
  readonly createRequestId: () => string;
  readonly observers: readonly RequestObserver[];
  readonly inFlight: InFlight;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The one way through for every request: route, authenticate, rate limit, scope, cached answer, parse by schema, run the
 * operation, serialise by schema, send. It stays within one call if nothing has to be awaited.
 */
export function createPipeline(options: PipelineOptions): RequestListener {
  const { router, gate, inFlight, cors, cache, makeErrorAnswer, createRequestId, observers, clock, log } =
    options;

  function receive(request: IncomingMessage, response: ServerResponse): void {
    const match = router.find(request.method ?? '', request.url ?? '');
    const exchange = openExchange(request, response, createRequestId(), match);
    attempt(exchange, begin);
  }

  function begin(exchange: Exchange): void {
    // What breaks off in the middle of its body, or while it waits, has to be found by its connection.
    if (!exchange.request.readableEnded) track(exchange);
    const preflight = cors.answerPreflight(exchange.request);
    if (preflight === null) proceed(exchange, gate.admit(exchange), checkAdmission);
    else
      proceed(exchange, gate.peek(exchange), (_, limit) => {
        exchange.limit = limit;
        send(exchange, preflight);
      });
  }

  function track(exchange: Exchange): void {
    const { request, response } = exchange;
    if (exchange.isTracked) return;
    exchange.isTracked = true;
    exchange.brokenBy = inFlight.findFailure(response);
    if (exchange.brokenBy !== null) response.shouldKeepAlive = false;
    inFlight.begin(request.socket, { response, breakOff: (failure) => breakOff(exchange, failure) });
  }

  function attempt(exchange: Exchange, act: (exchange: Exchange) => void): void {
    try {
      if (!exchange.isAnswered) act(exchange);
    } catch (error) {
      fail(exchange, error);
    }
  }

  /** Goes on with a value within the call, or once it is there. */
  function proceed<T>(
    exchange: Exchange,
    value: Soon<T>,
    next: (exchange: Exchange, value: T) => void,
  ): void {
    if (!(value instanceof Promise)) {
      next(exchange, value);
      return;
    }
    track(exchange);
    value.then(
      (known) => attempt(exchange, () => next(exchange, known)),
      (error) => fail(exchange, error),
    );
  }

  function checkAdmission(exchange: Exchange, { caller, limit, refusal }: Admission): void {
    exchange.caller = caller;
    exchange.limit = limit;
    const reason = refusal ?? exchange.brokenBy ?? findRefusal(exchange);
    const { route } = exchange.match;
    if (reason !== null || route === null) fail(exchange, reason);
    else answerRoute(exchange, route);
  }

  function findRefusal({ request, match, caller }: Exchange): AppError | null {
    const { route, failure } = match;
    if (request.httpVersionMajor !== 1) return otherVersion;
    if (!hasOneHost(request)) return noHost;
    if (route === null) return failure;
    if (route.removedAtMs !== null && clock() >= route.removedAtMs) return removedError(route.removedAtMs);
    if (route.scope !== null && (caller === null || !coversScope(caller.scopes, route.scope)))
      return new AppError('scope_missing', `this API key lacks the scope ${route.scope}`);
    return null;
  }

  function answerRoute(exchange: Exchange, route: Route): void {
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
  }

  function run(exchange: Exchange, route: Route, strict: boolean, bytes: Buffer | null): void {
    const { request, match, caller } = exchange;
    const { headers } = request;
    const call: Call = {
      params: match.params,
      query: route.readQuery(match.query, strict),
      body: bytes === null ? null : route.body?.parse(bytes, strict),
      headers,
      caller,
      idempotency:
        route.idempotentOperation && caller && bytes
          ? readIdempotency(headers, caller, route.idempotentOperation, bytes)
          : null,
    };
    const version = route.isCached ? cache.readVersion() : null;
    proceed(exchange, route.run(call), (_, { answer, dependsOn }) => {
      if (dependsOn !== null) cache.keep(route, cacheKeyOf(exchange), answer, dependsOn, version);
      send(exchange, answer);
    });
  }

  function send(exchange: Exchange, answer: Answer): void {
    if (exchange.isAnswered) return;
    exchange.isAnswered = true;
    const { request, response } = exchange;
    const status = options.send(exchange, answer, cors.linesFor(request));
    if (!response.shouldKeepAlive) inFlight.close(request.socket);
    if (exchange.isTracked && (request.complete || request.readableEnded))
      inFlight.end(request.socket, response);
    const ms = performance.now() - exchange.startedAtMs;
    for (const observer of observers) observer.note(exchange, status, ms);
  }

  /** Every failure leaves here. */
  function fail(exchange: Exchange, error: unknown): void {
    if (exchange.isAnswered) {
      // Its answer has begun and could not be written whole.
      if (!exchange.response.writableEnded) exchange.response.destroy();
      return;
    }
    const failure = toAppError(error);
    // The store logs its own faults, once and not a request.
    if (errorStatus[failure.code] >= 500 && failure.code !== 'unavailable')
      log.error({ requestId: exchange.id, err: failure.cause ?? failure }, failure.message);
    const { route, allow } = exchange.match;
    const lines = allow !== null && failure.code === 'method_not_allowed' ? toLines({ allow }) : '';
    send(exchange, makeErrorAnswer(failure, (route?.announcement ?? '') + lines));
  }

  function breakOff(exchange: Exchange, failure: AppError): void {
    const { request, response } = exchange;
    response.shouldKeepAlive = false;
    if (exchange.isAnswered) request.socket.destroySoon();
    else if (exchange.limit === null) exchange.brokenBy = failure;
    else fail(exchange, failure);
  }

  return receive;
}

const otherVersion = new AppError('invalid_parameter', 'the request line must name HTTP/1.1 or HTTP/1.0');
const noHost = new AppError('invalid_parameter', 'Host: this header is required, once');

/**
 * HTTP/1.1 requires exactly one Host (RFC 9112, section 3.2). Node's own check would answer without our headers; a
 * repeated one arrives joined by commas, which no host has.
 */
function hasOneHost({ headers: { host }, httpVersionMinor }: IncomingMessage): boolean {
  return host === undefined ? httpVersionMinor === 0 : !host.includes(',');
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
