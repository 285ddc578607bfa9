import { channel } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { accountSuspended, coversScope } from '../accounts/account.ts';
import type { Clock } from '../clock.ts';
import { AppError, errorStatus } from '../errors.ts';
import type { Log } from '../observability/log.ts';
import { coversRole, type Role } from '../operator-role.ts';
import { lingerBytesMax } from './connection/bounds.ts';
import { type Exchange, noteHeld, openExchange, readCall } from './exchange.ts';
import { hasBody, isTooLongToDrop } from './request/body.ts';
import type { BodyMemory } from './request/body-memory.ts';
import { type Gate, limitError } from './request/gate.ts';
import { isStrict } from './request/preferences.ts';
import { receiveBody } from './request/receive-body.ts';
import type { RefusalPace } from './request/refusal-pace.ts';
import type { RequestObserver } from './request-log.ts';
import type { Answer } from './response/answer.ts';
import type { Cors } from './response/cors.ts';
import { removedError } from './response/deprecation.ts';
import { type MakeErrorAnswer, toAppError } from './response/errors.ts';
import type { ResponseCache } from './response/response-cache.ts';
import { sendAnswer } from './response/send.ts';
import type { BodyReader, SignedIn } from './route.ts';
import type { Router } from './router.ts';

export interface PipelineOptions {
  readonly router: Router;
  readonly gate: Gate;
  readonly bodyMemory: BodyMemory;
  /** Null if refusals never wait. */
  readonly pace: RefusalPace | null;
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

/** Answers the requests that a connection has received. */
export function createPipeline(options: PipelineOptions) {
  return {
    open(request: IncomingMessage, response: ServerResponse): Exchange {
      const match = options.router.find(request.method ?? '', request.url ?? '');
      if (routes.hasSubscribers && match.route !== null) routes.publish({ request, route: match.route.path });
      const body = hasBody(request.headers) ? receiveBody(request, options.bodyMemory) : null;
      if (match.route?.body == null) body?.drop();
      return openExchange(request, response, options.createRequestId(), match, body);
    },
    run(exchange: Exchange): void {
      run(options, exchange);
    },
    /** Fails a request because the rest of its body cannot be read. Its connection closes. */
    breakOff(exchange: Exchange, failure: AppError): void {
      const { request, response } = exchange;
      response.shouldKeepAlive = false;
      if (exchange.isAnswered) request.socket.destroySoon();
      // A refusal that waits for its pace stays the answer.
      else if (exchange.failure !== null) return;
      else if (exchange.isAdmitted) fail(options, exchange, failure);
      else exchange.brokenBy = failure;
    },
  };
}

/** Tells a tracing tool the route of each request (docs/operations/tracing.md). */
const routes = channel('animal-store.route');

/** Runs the steps of a request, synchronously until one has to wait. A cached response usually waits for none. */
async function run(parts: PipelineOptions, exchange: Exchange): Promise<void> {
  const { cors, gate } = parts;
  const { request, match } = exchange;
  try {
    const preflight = cors.answerPreflight(request);
    if (preflight !== null) {
      exchange.decision = await gate.peek(exchange);
      answer(parts, exchange, preflight);
      return;
    }
    const admitted = gate.admit(exchange);
    const refusal = admitted instanceof Promise ? await admitted : admitted;
    exchange.isAdmitted = true;
    const reason = refusal ?? exchange.brokenBy ?? findRefusal(exchange, parts.clock);
    const { route } = match;
    if (reason !== null || route === null) throw reason;
    const cache = route.isCached && !isStrict(request.headers['prefer']) ? parts.cache : null;
    const target = request.url ?? '';
    // The version is read before the response is made. Otherwise a change between the two would go unnoticed.
    const read = cache === null ? null : cache.readVersion();
    const version = read instanceof Promise ? await read : read;
    if (exchange.isAnswered) return;
    const cached = cache === null ? null : cache.find(target, version);
    if (cached !== null) {
      answer(parts, exchange, cached);
      return;
    }
    const takesBody = route.body !== null && (exchange.body !== null || !route.body.isOptional);
    const bytes = takesBody ? await takeBody(parts, exchange, route.body) : null;
    if (exchange.isAnswered) return;
    const made = await route.run(readCall(exchange, route, bytes));
    if (exchange.isAnswered) return;
    cache?.keep(target, made, version);
    answer(parts, exchange, made);
  } catch (error) {
    const failure = toAppError(error);
    const isPaced = parts.pace !== null && isRefusal(failure);
    const sent = isPaced ? await waitForPace(parts.pace, exchange, failure) : failure;
    if (!isPaced || !exchange.response.destroyed) fail(parts, exchange, sent);
  }
}

/** True if the key or a limit refuses the request. */
function isRefusal({ code }: AppError): boolean {
  return errorStatus[code] === 401 || errorStatus[code] === 429;
}

/** Waits until a refusal may be answered. Returns it as it reads then. */
async function waitForPace(pace: RefusalPace, exchange: Exchange, refusal: AppError): Promise<AppError> {
  exchange.failure = refusal;
  exchange.body?.drop(lingerBytesMax);
  const waitedMs = await pace.take(exchange.response);
  if (waitedMs === 0) return refusal;
  noteHeld(exchange, waitedMs);
  const { code = null, retryAfterSeconds = 0 } = exchange.decision ?? {};
  return code === null ? refusal : limitError(code, retryAfterSeconds);
}

async function takeBody(
  { gate, clock }: PipelineOptions,
  exchange: Exchange,
  { checkType }: BodyReader,
): Promise<Buffer> {
  const { request, response, body, caller, awaitsContinue } = exchange;
  checkType(request.headers);
  if (awaitsContinue) response.writeContinue();
  exchange.awaitsContinue = false;
  if (body === null) return Buffer.alloc(0);
  const { bytes, isLate } = await body.take(caller?.accountId ?? null);
  // A body may take 30 s to arrive. In this time, a key, an account or the role of an operator may change.
  const refusal = isLate ? ((await gate.confirm(exchange)) ?? findRefusal(exchange, clock)) : null;
  if (refusal !== null) throw refusal;
  return bytes;
}

function answer(parts: PipelineOptions, exchange: Exchange, made: Answer): void {
  if (exchange.isAnswered) return;
  exchange.isAnswered = true;
  const { request, response, body } = exchange;
  // Node would drop the rest of an unread body without an event, so that its bytes could not be bounded.
  body?.end();
  if (parts.isClosing() || isLast(exchange)) response.shouldKeepAlive = false;
  const status = sendAnswer(exchange, made, parts.cors.headersFor(request));
  const ms = performance.now() - exchange.startedAtMs - exchange.heldMs;
  for (const observer of parts.observers) tell(parts, observer, exchange, status, ms);
}

/** The request is answered, so a fault of an observer is only logged. Uncaught, it would end the process. */
function tell(
  { log }: PipelineOptions,
  observer: RequestObserver,
  exchange: Exchange,
  status: number,
  ms: number,
) {
  try {
    observer.note(exchange, status, ms);
  } catch (err) {
    log.error({ requestId: exchange.id, err }, 'an answered request could not be counted or logged');
  }
}

function fail(parts: PipelineOptions, exchange: Exchange, error: unknown): void {
  if (exchange.isAnswered) {
    // A response that has begun cannot be completed.
    if (!exchange.response.writableEnded) exchange.response.destroy();
    return;
  }
  const failure = toAppError(error);
  exchange.failure = failure;
  // `unavailable` needs no line for every request: a failing store logs each of its faults once, and the request log has
  // some of the requests (`linesPerSecondMax`).
  if (errorStatus[failure.code] >= 500 && failure.code !== 'unavailable')
    parts.log.error({ requestId: exchange.id, err: failure.cause ?? failure }, failure.message);
  const { route, allow } = exchange.match;
  const allowed = allow !== null && failure.code === 'method_not_allowed' ? ['allow', allow] : [];
  answer(parts, exchange, parts.makeErrorAnswer(failure, [...(route?.announcement ?? []), ...allowed]));
}

function findRefusal({ request, match, caller, signedIn }: Exchange, clock: Clock): AppError | null {
  const { route, failure } = match;
  if (caller?.isSuspended) return accountSuspended();
  if (request.httpVersionMajor !== 1) return otherVersion;
  if (!hasOneHost(request)) return noHost;
  if (route === null) return failure;
  const { deprecation, scope, role } = route;
  if (deprecation !== null && clock() >= deprecation.removedAtMs) return removedError(deprecation);
  if (scope !== null && (caller === null || !coversScope(caller.scopes, scope)))
    return new AppError('scope_missing', `this API key lacks the scope ${[scope].flat().join(' or ')}`);
  if (role !== null && !coversRole(signedIn?.role ?? null, role)) return roleMissing(role, signedIn);
  return null;
}

function roleMissing(needed: Role, signedIn: SignedIn | null): AppError {
  const held = signedIn?.role ?? null;
  const has = held === null ? 'is not an operator' : `has the role ${held}`;
  return new AppError('role_missing', `this needs the role ${needed}, but ${signedIn?.name} ${has}`);
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
 * - The rest of a long body is not read.
 */
function isLast({ request, body, awaitsContinue }: Exchange): boolean {
  if (body !== null && (awaitsContinue || isTooLongToDrop(request.headers))) return true;
  return !hasOneHost(request) || request.headers.upgrade !== undefined;
}
