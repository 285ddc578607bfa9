import { createPageRoute } from '../http/page-route.ts';
import { makeAnswer } from '../http/response/answer.ts';
import type { Route } from '../http/route.ts';

/** One thing that must hold for the service to be sent requests. */
export interface ReadinessCheck {
  /** What is checked, as the reason names it: "the store". */
  readonly name: string;
  /** Null while it holds, else what is wrong, in a few words. It also fails if it throws or does not answer in time. */
  findProblem(): Promise<string | null>;
}

/** `/healthz` says that the process answers, `/readyz` whether it should be sent requests. */
export function createHealthRoutes(
  checks: readonly ReadinessCheck[],
  listNotes: () => readonly string[],
  checkMsMax: number,
): Route[] {
  return [
    createPageRoute('/healthz', 'operator', null, () => makeAnswer(200, JSON.stringify({ status: 'ok' }))),
    createPageRoute('/readyz', 'operator', null, async () => {
      const found = await Promise.all(checks.map((check) => runCheck(check, checkMsMax)));
      const problems = found.filter((problem) => problem !== null);
      const notes = listNotes();
      const noted = notes.length === 0 ? {} : { notes };
      if (problems.length === 0) return makeAnswer(200, JSON.stringify({ status: 'ready', ...noted }));
      const reason = problems.join('; ');
      return makeAnswer(503, JSON.stringify({ status: 'not ready', reason, ...noted }));
    }),
  ];
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
