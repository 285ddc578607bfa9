import type { Registry } from 'prom-client';
import { secondMs, systemClock } from '../clock.ts';
import { createAnswerBatch } from '../http/connection/answer-batch.ts';
import { defaultTimeouts, type Timeouts } from '../http/connection/bounds.ts';
import { createHttpService, type HttpService } from '../http/connection/http-service.ts';
import { createInFlight } from '../http/connection/in-flight.ts';
import { answerMalformed } from '../http/connection/malformed-requests.ts';
import { createHeadWriter } from '../http/connection/response-head.ts';
import { createPipeline } from '../http/pipeline.ts';
import { openGate } from '../http/request/admission.ts';
import { createRequestIds } from '../http/request/request-id.ts';
import { createCors } from '../http/response/cors.ts';
import { createErrorAnswers } from '../http/response/errors.ts';
import { noCache } from '../http/response/response-cache.ts';
import { createSend } from '../http/response/send.ts';
import { createRouter } from '../http/router.ts';
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
  const inFlight = createInFlight();
  const batch = createAnswerBatch();
  const makeErrorAnswer = createErrorAnswers(null);
  const handle = createPipeline({
    router: createRouter([
      ...createHealthRoutes(checks, listNotes, checkMsMax),
      createMetricsRoute(registry),
    ]),
    gate: openGate,
    cors: createCors([], { exposed: [], methods: [], requestHeaders: [] }),
    cache: noCache,
    send: createSend(createHeadWriter(timeouts.keepAliveMs), batch),
    makeErrorAnswer,
    createRequestId: createRequestIds(),
    observers: [],
    inFlight,
    clock: systemClock,
    log,
  });
  const service = createHttpService({
    handle,
    inFlight,
    batch,
    timeouts,
    connectionsMax: operatorConnectionsMax,
  });
  answerMalformed(service.server, {
    inFlight,
    batch,
    makeAnswer: (failure) => ({ answer: makeErrorAnswer(failure), lines: '' }),
  });
  return service;
}
