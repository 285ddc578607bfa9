import type { Registry } from 'prom-client';
import { systemClock } from '../clock.ts';
import { defaultTimeouts, type Timeouts } from '../http/connection/bounds.ts';
import { createRequestIds } from '../http/exchange.ts';
import { createHttpService, type HttpService } from '../http/http-service.ts';
import { openGate } from '../http/request/gate.ts';
import { createCors } from '../http/response/cors.ts';
import { createErrorAnswers } from '../http/response/errors.ts';
import type { Log } from '../observability/log.ts';
import type { Console } from './console/console.ts';
import { createHealthRoutes, createMetricsRoute, type Health } from './health-routes.ts';

export interface OperatorServerOptions {
  readonly readHealth: () => Promise<Health>;
  readonly registry: Registry;
  /** The web console. If absent, the port does not serve it. */
  readonly console?: Console;
  readonly log: Log;
  readonly timeouts?: Timeouts;
}

/** Maximum number of open connections on the operator's port. */
export const operatorConnectionsMax = 1_000;

/**
 * Builds the server of the operator's port. The server does not listen yet. Health and metrics need no key, so clients
 * must not be able to reach this port. Timeouts and sizes of requests are limited as on the public port.
 */
export function buildOperatorServer(options: OperatorServerOptions): HttpService {
  const { readHealth, registry, log, timeouts = defaultTimeouts } = options;
  const makeErrorAnswer = createErrorAnswers(null);
  return createHttpService({
    routes: [
      ...createHealthRoutes(readHealth),
      createMetricsRoute(registry),
      ...(options.console?.routes ?? []),
    ],
    gate: options.console?.gate ?? openGate,
    cors: createCors([], { exposed: [], methods: [], requestHeaders: [] }),
    cache: null,
    makeErrorAnswer,
    makeMalformedAnswer: async (failure, _address, headers) => makeErrorAnswer(failure, headers),
    createRequestId: createRequestIds(),
    observers: [],
    clock: systemClock,
    log,
    timeouts,
    connectionsMax: operatorConnectionsMax,
  });
}
