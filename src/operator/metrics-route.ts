import type { Registry } from 'prom-client';
import { createPageRoute } from '../http/page-route.ts';
import { makeAnswer } from '../http/response/answer.ts';
import type { Route } from '../http/route.ts';

export function createMetricsRoute(registry: Registry): Route {
  return createPageRoute('/metrics', 'operator', null, async () =>
    makeAnswer(200, await registry.metrics(), '', registry.contentType),
  );
}
