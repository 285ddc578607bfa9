import { Registry } from 'prom-client';
import type { KeyVerifier } from '../accounts/key-verifier.ts';
import type { Environment } from '../config.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { Log } from '../observability/log.ts';
import { expose } from '../observability/metrics.ts';
import type { TrustProxy } from '../setting-values.ts';
import type { Version } from '../storage/content-version.ts';
import type { FailedRequests } from '../usage/failed-requests.ts';
import { listOperations } from './api/operations.ts';
import type { Services } from './api/services.ts';
import { bindOperation } from './bind-operation.ts';
import { defaultTimeouts, type Timeouts } from './connection/bounds.ts';
import type { MakeMalformedAnswer } from './connection/malformed-requests.ts';
import { watchRefusedConnections } from './connection/node-server.ts';
import { createDocsRoutes } from './docs-site/routes.ts';
import { createRequestIds } from './exchange.ts';
import { createHttpService, type HttpService } from './http-service.ts';
import { requestHeaders, responseHeaders } from './openapi/headers.ts';
import type { Operation } from './operation.ts';
import { createBodyMemory } from './request/body-memory.ts';
import { createClientAddress } from './request/client-address.ts';
import { createGate, limitError } from './request/gate.ts';
import { createRefusalPace } from './request/refusal-pace.ts';
import { createRequestLog, type RequestObserver, recordRequests } from './request-log.ts';
import { countRequests } from './request-metrics.ts';
import { securityHeaders } from './response/answer.ts';
import { createCors } from './response/cors.ts';
import { createErrorAnswers, type MakeErrorAnswer } from './response/errors.ts';
import { createResponseCache } from './response/response-cache.ts';
import { listMethods } from './route.ts';

export interface ServerOptions {
  /** What the operations work with. No handler holds more. */
  readonly services: Omit<Services, 'baseUrl'>;
  readonly verifier: KeyVerifier;
  readonly limiter: Limiter;
  readonly failedRequests: Pick<FailedRequests, 'note'>;
  readonly version: Version;
  readonly connectionsMax?: number;
  readonly log: Log;
  readonly registry?: Registry;
  readonly publicUrl: string | null;
  readonly trustProxy: TrustProxy;
  readonly corsOrigins: readonly string[];
  /** Returns which requests are logged now. */
  readonly readLogRequests: () => 'errors' | 'all';
  readonly observers?: readonly RequestObserver[];
  readonly timeouts?: Timeouts;
  /** Default: `heldBodyBytesMax`. */
  readonly heldBodyBytesMax?: number;
  readonly environment: Environment;
  /** What the documentation says about the installation. */
  readonly otherEnvironmentUrl: string | null;
  readonly webhookSourceNetworks: readonly string[];
  /** Default: all operations of api/operations.ts. */
  readonly operations?: readonly Operation[];
}

/** Builds the public server (`/v1`, `/openapi.json`, `/docs`). Call `listen` to start it. */
export function buildServer(options: ServerOptions): HttpService {
  const { version, limiter, log, publicUrl, registry = new Registry() } = options;
  const { clock, feed } = options.services;
  const { timeouts = defaultTimeouts, operations = listOperations(options.environment) } = options;
  const baseUrl = publicUrl ?? '/v1';
  const docsUrl = publicUrl === null ? '/docs' : new URL('docs', publicUrl).href;

  const services = { ...options.services, baseUrl };
  const findOwnUrl = () => `${service.findUrl()}/v1`;
  const { environment, otherEnvironmentUrl: otherUrl, webhookSourceNetworks: webhookSources } = options;
  const addresses = { environment, publicUrl, otherUrl, webhookSources };
  const docs = createDocsRoutes({ operations, findOwnUrl, ...addresses });
  const routes = [...operations.map((operation) => bindOperation(operation, services)), ...docs];

  const addressOf = createClientAddress(options.trustProxy);
  const pace = createRefusalPace();
  const bodyMemory = createBodyMemory(options.heldBodyBytesMax);
  const createRequestId = createRequestIds();
  const makeErrorAnswer = createErrorAnswers(docsUrl);
  const observers = [
    countRequests(registry),
    createRequestLog(log, options.readLogRequests, addressOf),
    recordRequests(options.failedRequests, addressOf),
    ...(options.observers ?? []),
  ];
  const service: HttpService = createHttpService({
    routes,
    gate: createGate(options.verifier, limiter, addressOf),
    bodyMemory,
    pace,
    cors: createCors(options.corsOrigins, {
      exposed: Object.keys(responseHeaders).filter(
        (name) => !/^Access-Control|Vary|(?:Successor|Next|Help)Link$/.test(name),
      ),
      methods: listMethods(routes),
      requestHeaders: ['Authorization', 'Content-Type', ...Object.keys(requestHeaders)].sort(),
    }),
    cache: createResponseCache(version, registry),
    makeErrorAnswer,
    makeMalformedAnswer: createMalformedAnswers(limiter, createRequestId, makeErrorAnswer, observers),
    createRequestId,
    observers,
    clock,
    log,
    timeouts,
    ...(options.connectionsMax !== undefined && { connectionsMax: options.connectionsMax }),
    turns: { together: version.share },
    onClosing: feed.stopWaiting,
  });
  watchRefusedConnections(service.server, registry, clock, log);
  const queued = 'Requests that wait for their turn to begin.';
  expose(registry, 'gauge', 'requests_queued', queued, service.countQueued);
  const waiting = 'Refused requests (401, 429) whose responses wait for the pace of refusals.';
  expose(registry, 'gauge', 'refusals_waiting', waiting, pace.count);
  const held = 'Bytes of request bodies that no operation has taken yet.';
  expose(registry, 'gauge', 'request_body_bytes', held, bodyMemory.count);
  return service;
}

/** Returns a function that counts a request that is not valid HTTP, tells the observers, and makes its response. */
function createMalformedAnswers(
  limiter: Limiter,
  createRequestId: () => string,
  makeErrorAnswer: MakeErrorAnswer,
  observers: readonly RequestObserver[],
): MakeMalformedAnswer {
  return async (failure, address, own) => {
    const { code, retryAfterSeconds, headers } = await limiter.takeForAddress(address);
    const requestId = createRequestId();
    const common = ['x-request-id', requestId, ...headers, ...securityHeaders()];
    const answer =
      code === null
        ? makeErrorAnswer(failure, [...common, ...own])
        : makeErrorAnswer(limitError(code, retryAfterSeconds), common);
    for (const observer of observers) observer.noteMalformed({ requestId, status: answer.status, address });
    return answer;
  };
}
