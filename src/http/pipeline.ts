import { channel } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { accountSuspended, coversScope } from '../accounts/account.ts';
import type { Clock } from '../clock.ts';
import { AppError, errorStatus } from '../errors.ts';
import type { Log } from '../observability/log.ts';
import type { Soon } from '../soon.ts';
import { type Exchange, openExchange, readCall } from './exchange.ts';
import { hasBody, readBody } from './request/body.ts';
import type { Gate } from './request/gate.ts';
import { isStrict } from './request/preferences.ts';
import type { RequestObserver } from './request-log.ts';
import type { Answer } from './response/answer.ts';
import type { Cors } from './response/cors.ts';
import { removedError } from './response/deprecation.ts';
import { type MakeErrorAnswer, toAppError } from './response/errors.ts';
import type { ResponseCache } from './response/response-cache.ts';
import { sendAnswer } from './response/send.ts';
import type { Route } from './route.ts';
import type { Router } from './router.ts';

export interface PipelineOptions {
  readonly router: Router;
  readonly gate: Gate;
  /** Null if nothing is cached. */
  readonly cache: ResponseCache | null;
  readonly cors: Cors;
  readonly makeErrorAnswer: MakeErrorAnswer;
  readonly createRequestId: () => string;
  readonly observers: readonly RequestObserver[];
  readonly clock: Clock;
  readonly log: Log;
  /** True once responses must close their connections. */
  readonly isClosing: () => boolean;
}

export type Pipeline = ReturnType<typeof createPipeline>;

/**
 * Answers the requests that a connection has received. The steps of a request:
 *
 * 1. `open`: find the route.
 * 2. `begin`: authenticate the caller and apply the rate limit, both in the gate.
 * 3. `checkAdmission`: check the scope.
 * 4. `enter`: look for a cached response.
 * 5. `parse`: read, parse and validate the query and the body by schema.
 * 6. `operate`: run the operation and serialise its response by schema.
 * 7. `answer`: send the response.
 *
 * If no step returns a promise, all steps run synchronously.
 */
export function createPipeline(options: PipelineOptions) {
  return {
    open(request: IncomingMessage, response: ServerResponse): Exchange {
      const match = options.router.find(request.method ?? '', request.url ?? '');
      if (routes.hasSubscribers && match.route !== null) routes.publish({ request, route: match.route.path });
      return openExchange(request, response, options.createRequestId(), match);
    },
    run(exchange: Exchange): void {
      try {
        begin(options, exchange);
      } catch (error) {
        fail(options, exchange, error);
      }
    },
    /** Fails a request because the rest of its body cannot be read. Its connection closes. */
    breakOff(exchange: Exchange, failure: AppError): void {
      const { request, response } = exchange;
      response.shouldKeepAlive = false;
      if (exchange.isAnswered) request.socket.destroySoon();
      else if (exchange.isAdmitted) fail(options, exchange, failure);
      else exchange.brokenBy = failure;
    },
  };
}

/** Tells a tracing tool the route of each request (docs/operations/tracing.md). */
const routes = channel('animal-store.route');

type Parts = PipelineOptions;

/** Runs the next step with a value, at once or when its promise resolves. */
function proceed<T>(parts: Parts, exchange: Exchange, value: Soon<T>, next: (value: T) => void): void {
  if (value instanceof Promise)
    value
      .then((known) => {
        if (!exchange.isAnswered) next(known);
      })
      .catch((error) => fail(parts, exchange, error));
  else next(value);
}

function begin(parts: Parts, exchange: Exchange): void {
  const preflight = parts.cors.answerPreflight(exchange.request);
  if (preflight === null)
    proceed(parts, exchange, parts.gate.admit(exchange), (refusal) =>
      checkAdmission(parts, exchange, refusal),
    );
  else
    proceed(parts, exchange, parts.gate.peek(exchange), (limit) => {
      exchange.limit = limit;
      answer(parts, exchange, preflight);
    });
}

function checkAdmission(parts: Parts, exchange: Exchange, refusal: AppError | null): void {
  exchange.isAdmitted = true;
  const reason = refusal ?? exchange.brokenBy ?? findRefusal(exchange, parts.clock);
  const { route } = exchange.match;
  if (reason !== null || route === null) fail(parts, exchange, reason);
  else enter(parts, exchange, route);
}

function enter(parts: Parts, exchange: Exchange, route: Route): void {
  const { request } = exchange;
  const { cache } = parts;
  if (cache === null || !route.isCached || isStrict(request.headers['prefer'])) {
    parse(parts, exchange, route);
    return;
  }
  const target = request.url ?? '';
  // The version is read before the response is made. Otherwise a change between the two would go unnoticed.
  proceed(parts, exchange, cache.readVersion(), (version) => {
    const cached = cache.find(target, version);
    if (cached !== null) answer(parts, exchange, cached);
    else parse(parts, exchange, route, (made) => cache.keep(target, made, version));
  });
}

function parse(parts: Parts, exchange: Exchange, route: Route, keep?: Keep): void {
  const { request, response } = exchange;
  const { headers } = request;
  if (route.body === null || (route.body.isOptional && !hasBody(headers))) {
    // Discards the body as it arrives. Otherwise its chunks would stay in memory until the response is sent.
    if (hasBody(headers)) request.resume();
    operate(parts, exchange, route, null, keep);
    return;
  }
  route.body.checkType(headers);
  if (exchange.awaitsContinue) response.writeContinue();
  exchange.awaitsContinue = false;
  proceed(parts, exchange, readBody(request), ({ bytes, isLate }) => {
    // A body may take 30 s to arrive. In this time, the key may be revoked or the account suspended.
    if (!isLate) operate(parts, exchange, route, bytes);
    else
      proceed(parts, exchange, parts.gate.confirm(exchange), (refusal) => {
        if (refusal === null) operate(parts, exchange, route, bytes);
        else fail(parts, exchange, refusal);
      });
  });
}

/** Stores a response in the cache. */
type Keep = (made: Answer) => void;

function operate(parts: Parts, exchange: Exchange, route: Route, bytes: Buffer | null, keep?: Keep): void {
  proceed(parts, exchange, route.run(readCall(exchange, route, bytes)), (made) => {
    keep?.(made);
    answer(parts, exchange, made);
  });
}

function answer(parts: Parts, exchange: Exchange, made: Answer): void {
  if (exchange.isAnswered) return;
  exchange.isAnswered = true;
  const { request, response } = exchange;
  if (parts.isClosing() || isLast(exchange)) response.shouldKeepAlive = false;
  const status = sendAnswer(exchange, made, parts.cors.headersFor(request));
  const ms = performance.now() - exchange.startedAtMs - exchange.heldMs;
  for (const observer of parts.observers) observer.note(exchange, status, ms);
}

function fail(parts: Parts, exchange: Exchange, error: unknown): void {
  if (exchange.isAnswered) {
    // A response that has begun cannot be completed.
    if (!exchange.response.writableEnded) exchange.response.destroy();
    return;
  }
  const failure = toAppError(error);
  exchange.failure = failure;
  // `unavailable` needs no line for every request: a failing store logs each of its faults once, and the request log has
  // some of the requests (`unavailableLinesMax`).
  if (errorStatus[failure.code] >= 500 && failure.code !== 'unavailable')
    parts.log.error({ requestId: exchange.id, err: failure.cause ?? failure }, failure.message);
  const { route, allow } = exchange.match;
  const allowed = allow !== null && failure.code === 'method_not_allowed' ? ['allow', allow] : [];
  answer(parts, exchange, parts.makeErrorAnswer(failure, [...(route?.announcement ?? []), ...allowed]));
}

function findRefusal({ request, match, caller }: Exchange, clock: Clock): AppError | null {
  const { route, failure } = match;
  if (caller?.isSuspended) return accountSuspended();
  if (request.httpVersionMajor !== 1) return otherVersion;
  if (!hasOneHost(request)) return noHost;
  if (route === null) return failure;
  const { deprecation, scope } = route;
  if (deprecation !== null && clock() >= deprecation.removedAtMs) return removedError(deprecation);
  if (scope !== null && (caller === null || !coversScope(caller.scopes, scope)))
    return new AppError('scope_missing', `this API key lacks the scope ${[scope].flat().join(' or ')}`);
  return null;
}

const otherVersion = new AppError('invalid_parameter', 'the request line must name HTTP/1.1 or HTTP/1.0');
const noHost = new AppError('invalid_parameter', 'Host: exactly one Host header is required');

/**
 * HTTP/1.1 requires exactly one Host (RFC 9112, section 3.2). Node's own check is off, because it responds without our
 * headers. Node joins repeated headers with commas, and a valid host contains none.
 */
function hasOneHost({ headers: { host }, httpVersionMinor }: IncomingMessage): boolean {
  return host === undefined ? httpVersionMinor === 0 : !host.includes(',');
}

/**
 * True if the connection must close after the response:
 *
 * - A client that was not told to continue may leave the body out, so the end of the request is not known.
 * - A proxy may have read a request with several hosts differently.
 * - The upgrade itself is ignored, but Node's parser drops the bytes that follow such a request in the same packet. It
 *   would continue in the middle of the next request.
 */
function isLast({ request, awaitsContinue }: Exchange): boolean {
  const { headers } = request;
  return (awaitsContinue && hasBody(headers)) || !hasOneHost(request) || headers.upgrade !== undefined;
}
