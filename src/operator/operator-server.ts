import type { Registry } from 'prom-client';
import { systemClock } from '../clock.ts';
import { defaultTimeouts, operatorConnectionsMax } from '../http/connection/bounds.ts';
import { createRequestIds } from '../http/exchange.ts';
import { createHttpService, type HttpService } from '../http/http-service.ts';
import { createBodyMemory } from '../http/request/body-memory.ts';
import { openGate } from '../http/request/gate.ts';
import { makeAnswer } from '../http/response/answer.ts';
import { createCors } from '../http/response/cors.ts';
import { createErrorAnswers } from '../http/response/errors.ts';
import { createPageRoute, type Route } from '../http/route.ts';
import type { Log } from '../observability/log.ts';
import type { Console } from './console/console.ts';
import type { Health } from './health.ts';

export interface OperatorServerOptions {
  readonly readHealth: () => Promise<Health>;
  readonly registry: Registry;
  readonly console?: Console;
  readonly connectionsMax?: number;
  readonly log: Log;
}

/** Builds the server of the operator's port. Health and metrics need no key, so clients must not reach it. */
export function buildOperatorServer(options: OperatorServerOptions): HttpService {
  const makeErrorAnswer = createErrorAnswers(null);
  return createHttpService({
    routes: [...createRoutes(options), ...(options.console?.routes ?? [])],
    gate: options.console?.gate ?? openGate,
    cors: createCors([], { exposed: [], methods: [], requestHeaders: [] }),
    // A crowd on this port is its operator's own. Nothing waits, so that `/readyz` answers at once.
    pace: null,
    // A bound of its own, so that no body on the public port keeps an operator from acting.
    bodyMemory: createBodyMemory(),
    turns: { requestsMax: Number.POSITIVE_INFINITY, msMax: Number.POSITIVE_INFINITY },
    cache: null,
    makeErrorAnswer,
    makeMalformedAnswer: async (failure, _address, headers) => makeErrorAnswer(failure, headers),
    createRequestId: createRequestIds(),
    observers: [],
    clock: systemClock,
    log: options.log,
    timeouts: defaultTimeouts,
    connectionsMax: options.connectionsMax ?? operatorConnectionsMax,
  });
}

/** Creates `/healthz`, the liveness check, `/readyz`, the readiness check, and `/metrics`, in the format of Prometheus. */
function createRoutes({ readHealth, registry }: OperatorServerOptions): Route[] {
  return [
    createPageRoute('/healthz', 'operator', null, () => makeAnswer(200, JSON.stringify({ status: 'ok' }))),
    createPageRoute('/readyz', 'operator', null, async () => {
      const { problems, notes: all } = await readHealth();
      const notes = all.length === 0 ? undefined : all;
      if (problems.length === 0) return makeAnswer(200, JSON.stringify({ status: 'ready', notes }));
      return makeAnswer(503, JSON.stringify({ status: 'not ready', reason: problems.join('; '), notes }));
    }),
    createPageRoute('/metrics', 'operator', null, async () =>
      makeAnswer(200, await registry.metrics(), [], registry.contentType),
    ),
  ];
}
