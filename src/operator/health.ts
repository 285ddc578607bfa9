import { setTimeout as pause } from 'node:timers/promises';

/** Why this instance is not ready, and warnings that do not affect readiness. */
export interface Health {
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

/** What the service needs, by name. A check returns null or the problem. One that throws or is late fails. */
export type Checks = Readonly<Record<string, () => Promise<string | null>>>;

/** Returns the problems that make the service not ready. `checkMsMax` is the timeout of each check in ms. */
export async function findProblems(checks: Checks, checkMsMax: number): Promise<string[]> {
  const found = Object.entries(checks).map(async ([name, check]) => {
    const late = pause(checkMsMax, `does not answer within ${checkMsMax} ms`, { ref: false });
    const problem = await Promise.race([check(), late]).catch(() => 'does not answer');
    return problem === null ? [] : [`${name} ${problem}`];
  });
  return (await Promise.all(found)).flat();
}
