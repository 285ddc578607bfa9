import type { Registry } from 'prom-client';
import { makeAnswer } from '../http/response/answer.ts';
import { createPageRoute, type Route } from '../http/route.ts';

/** Why this instance is not ready, and warnings that do not affect readiness. */
export interface Health {
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

/** Creates `/healthz`, the liveness check, and `/readyz`, the readiness check. */
export function createHealthRoutes(readHealth: () => Promise<Health>): Route[] {
  return [
    createPageRoute('/healthz', 'operator', null, () => makeAnswer(200, JSON.stringify({ status: 'ok' }))),
    createPageRoute('/readyz', 'operator', null, async () => {
      const { problems, notes } = await readHealth();
      const noted = notes.length === 0 ? {} : { notes };
      if (problems.length === 0) return makeAnswer(200, JSON.stringify({ status: 'ready', ...noted }));
      const reason = problems.join('; ');
      return makeAnswer(503, JSON.stringify({ status: 'not ready', reason, ...noted }));
    }),
  ];
}

/**
 * The conditions that the service needs to serve requests, by a name such as "the store". A check returns null, or the
 * problem, which follows the name in a sentence. A check that throws or takes too long fails too.
 */
export type Checks = Readonly<Record<string, () => Promise<string | null>>>;

/** Returns the problems that make the service not ready. `checkMsMax` is the timeout of each check in ms. */
export async function findProblems(checks: Checks, checkMsMax: number): Promise<string[]> {
  const found = Object.entries(checks).map(async ([name, check]) => {
    const problem = await runCheck(check, checkMsMax);
    return problem === null ? [] : [`${name} ${problem}`];
  });
  return (await Promise.all(found)).flat();
}

async function runCheck(check: Checks[string], checkMsMax: number): Promise<string | null> {
  const { promise: timedOut, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(() => resolve(`does not answer within ${checkMsMax} ms`), checkMsMax);
  try {
    return await Promise.race([check(), timedOut]);
  } catch {
    return 'does not answer';
  } finally {
    clearTimeout(timer);
  }
}

/** Creates `/metrics`, in the text format of Prometheus. */
export function createMetricsRoute(registry: Registry): Route {
  return createPageRoute('/metrics', 'operator', null, async () =>
    makeAnswer(200, await registry.metrics(), [], registry.contentType),
  );
}
