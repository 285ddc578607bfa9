import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { accountSuspended, coversScope } from '../accounts/account.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { type Exchange, openExchange } from './exchange.ts';
import type { Admission, Gate } from './request/admission.ts';
import { createResponder, type ResponderOptions } from './responder.ts';
import { removedError } from './response/deprecation.ts';
import type { ResponseCache } from './response/response-cache.ts';
import { createRouteRunner } from './route-runner.ts';
import type { Router } from './router.ts';
import { createSteps } from './steps.ts';

export interface PipelineOptions extends ResponderOptions {
  readonly router: Router;
  readonly gate: Gate;
  readonly cache: ResponseCache;
  readonly createRequestId: () => string;
  readonly clock: Clock;
}

/**
 * Returns the listener for all requests. The steps of a request:
 *
 * 1. Find the route.
 * 2. Authenticate the caller.
 * 3. Apply the rate limit.
 * 4. Check the scope.
 * 5. Look for a cached response.
 * 6. Parse and validate the query and the body by schema.
 * 7. Run the operation.
 * 8. Serialise the response by schema and send it.
 *
 * If no step returns a promise, all steps run synchronously.
 */
export function createPipeline(options: PipelineOptions): RequestListener {
  const { router, gate, cors, createRequestId, clock } = options;
  const responder = createResponder(options);
  const { send, fail, track } = responder;
  const steps = createSteps(responder);
  const { attempt, proceed } = steps;
  const runRoute = createRouteRunner(options.cache, gate, responder, steps);

  function begin(exchange: Exchange): void {
    // If the body breaks off, the connection must find this request and fail it.
    if (!exchange.request.readableEnded) track(exchange);
    const preflight = cors.answerPreflight(exchange.request);
    if (preflight === null) proceed(exchange, gate.admit(exchange), checkAdmission);
    else
      proceed(exchange, gate.peek(exchange), (_, limit) => {
        exchange.limit = limit;
        send(exchange, preflight);
      });
  }

  function checkAdmission(exchange: Exchange, admission: Admission): void {
    const { caller, limit, usage, refusal, signedIn } = admission;
    exchange.isAdmitted = true;
    exchange.caller = caller;
    exchange.signedIn = signedIn ?? null;
    exchange.limit = limit;
    exchange.usage = usage;
    const reason = refusal ?? exchange.brokenBy ?? findRefusal(exchange, clock);
    const { route } = exchange.match;
    if (reason !== null || route === null) fail(exchange, reason);
    else runRoute(exchange, route);
  }

  return (request: IncomingMessage, response: ServerResponse) => {
    const match = router.find(request.method ?? '', request.url ?? '');
    const exchange = openExchange(request, response, createRequestId(), match);
    attempt(exchange, begin);
  };
}

/** Returns the error if a request that passed the gate must be refused, otherwise null. */
function findRefusal({ request, match, caller }: Exchange, clock: Clock): AppError | null {
  const { route, failure } = match;
  if (caller?.isSuspended) return accountSuspended();
  if (request.httpVersionMajor !== 1) return otherVersion;
  if (!hasOneHost(request)) return noHost;
  if (route === null) return failure;
  if (route.removedAtMs !== null && clock() >= route.removedAtMs) return removedError(route.removedAtMs);
  if (route.scope !== null && (caller === null || !coversScope(caller.scopes, route.scope)))
    return new AppError('scope_missing', `this API key lacks the scope ${[route.scope].flat().join(' or ')}`);
  return null;
}

const otherVersion = new AppError('invalid_parameter', 'the request line must name HTTP/1.1 or HTTP/1.0');
const noHost = new AppError('invalid_parameter', 'Host: exactly one Host header is required');

/**
 * True if the request satisfies RFC 9112, section 3.2: HTTP/1.1 requires exactly one Host. Node's own check is off,
 * because it responds without our headers. Node joins repeated Host headers with commas, and a valid host contains no
 * comma.
 */
function hasOneHost({ headers: { host }, httpVersionMinor }: IncomingMessage): boolean {
  return host === undefined ? httpVersionMinor === 0 : !host.includes(',');
}
