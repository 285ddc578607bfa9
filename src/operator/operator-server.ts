import type { Registry } from 'prom-client';
import { secondMs, systemClock } from '../clock.ts';
import { defaultTimeouts, type Timeouts } from '../http/connection/bounds.ts';
import type { HttpService } from '../http/connection/http-service.ts';
import { openGate } from '../http/request/admission.ts';
import { createRequestIds } from '../http/request/request-id.ts';
import { createCors } from '../http/response/cors.ts';
import { createErrorAnswers } from '../http/response/errors.ts';
import { noCache } from '../http/response/response-cache.ts';
import { wireService } from '../http/wire-service.ts';
import type { Log } from '../observability/log.ts';
import { createHealthRoutes, type ReadinessCheck } from './health-routes.ts';
import { createMetricsRoute } from './metrics-route.ts';

export interface OperatorServerOptions {
  readonly checks: readonly ReadinessCheck[];
  /** What an operator should know although the service answers, a few words each. */
  readonly listNotes?: () => readonly string[];
  readonly registry: Registry;
  readonly log: Log;
  /** How long a check may take before it counts as failed. */
  readonly checkMsMax?: number;
  readonly timeouts?: Timeouts;
}

/** How many connections the operator's port holds open at once. */
export const operatorConnectionsMax = 1_000;

/**
 * Builds the operator's surface; it does not listen. It needs no key, so its port must not be open to clients. It has the
 * bounds of the public one.
 */
export function buildOperatorServer(options: OperatorServerOptions): HttpService {
  const { checks, listNotes = () => [], registry, log, timeouts = defaultTimeouts } = options;
  const { checkMsMax = secondMs } = options;
  const makeErrorAnswer = createErrorAnswers(null);
  return wireService({
    routes: [...createHealthRoutes(checks, listNotes, checkMsMax), createMetricsRoute(registry)],
    gate: openGate,
    cors: createCors([], { exposed: [], methods: [], requestHeaders: [] }),
    cache: noCache,
    makeErrorAnswer,
    makeMalformedAnswer: (failure, _address, lines) => ({
      answer: makeErrorAnswer(failure, lines),
      lines: '',
    }),
    createRequestId: createRequestIds(),
    observers: [],
    clock: systemClock,
    log,
    timeouts,
    connectionsMax: operatorConnectionsMax,
  });
}
