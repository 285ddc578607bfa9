import type { Registry } from 'prom-client';
import { makeAnswer } from '../http/response/answer.ts';
import { createPageRoute, type Route } from '../http/route.ts';

/** A condition that the service needs to serve requests. */
export interface ReadinessCheck {
  /** The name in error messages, such as "the store". */
  readonly name: string;
  /**
   * Returns null if the check passes. Otherwise, returns the problem, which follows `name` in a sentence. The check
   * also fails if it throws or times out.
   */
  findProblem(): Promise<string | null>;
}

/**
 * Creates `/healthz`, the liveness check, and `/readyz`, the readiness check. `checkMsMax` is the timeout of each check
 * in ms. `listNotes` returns warnings that do not affect readiness.
 */
export function createHealthRoutes(
  checks: readonly ReadinessCheck[],
  listNotes: () => readonly string[],
  checkMsMax: number,
): Route[] {
  return [
    createPageRoute('/healthz', 'operator', null, () => makeAnswer(200, JSON.stringify({ status: 'ok' }))),
    createPageRoute('/readyz', 'operator', null, async () => {
      const problems = await findProblems(checks, checkMsMax);
      const notes = listNotes();
      const noted = notes.length === 0 ? {} : { notes };
      if (problems.length === 0) return makeAnswer(200, JSON.stringify({ status: 'ready', ...noted }));
      const reason = problems.join('; ');
      return makeAnswer(503, JSON.stringify({ status: 'not ready', reason, ...noted }));
    }),
  ];
}

/** Returns the problems that make the service not ready. `checkMsMax` is the timeout of each check in ms. */
export async function findProblems(checks: readonly ReadinessCheck[], checkMsMax: number): Promise<string[]> {
  const found = await Promise.all(checks.map((check) => runCheck(check, checkMsMax)));
  return found.filter((problem) => problem !== null);
}

async function runCheck({ name, findProblem }: ReadinessCheck, checkMsMax: number): Promise<string | null> {
  const { promise: timedOut, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(() => resolve(`does not answer within ${checkMsMax} ms`), checkMsMax);
  try {
    const problem = await Promise.race([findProblem(), timedOut]);
    return problem === null ? null : `${name} ${problem}`;
  } catch {
    return `${name} does not answer`;
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
