import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Outcome, type Scenario, Skipped } from './scenario.ts';

export interface RunOptions {
  readonly seed: number;
  readonly scale: number;
  log(line: string): void;
}

type Result =
  | { readonly kind: 'held'; readonly outcome: Outcome; readonly seconds: number }
  | { readonly kind: 'skipped'; readonly reason: string; readonly seconds: number };

/**
 * Runs a scenario in its own folder. Throws if a guarantee was broken or the time limit was exceeded. The message has
 * the command that repeats the run.
 */
export async function runScenario(scenario: Scenario, { seed, scale, log }: RunOptions): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-torture-'));
  const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const after = (end: () => unknown) => ends.push(end);
  // An `exit` handler cannot wait for promises, so asynchronous actions only start.
  const endAtOnce = () => {
    for (const end of ends.reverse()) void end();
  };
  process.once('exit', endAtOnce);
  const startedMs = performance.now();
  const elapsedSeconds = () => (performance.now() - startedMs) / 1_000;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const minutesMax = scenario.minutes * Math.max(1, scale);
  const timer = setTimeout(
    () => reject(new Error(`it took longer than ${minutesMax} min`)),
    minutesMax * 60_000,
  );
  try {
    const outcome = await Promise.race([scenario.run({ seed, folder, scale, log, after }), late]);
    return { kind: 'held', outcome, seconds: elapsedSeconds() };
  } catch (error) {
    if (error instanceof Skipped)
      return { kind: 'skipped', reason: error.message, seconds: elapsedSeconds() };
    const repeat = `npm run torture -- --only ${scenario.name} --seed ${seed} --scale ${scale}`;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${scenario.name} did not hold (${repeat}): ${reason}`, { cause: error });
  } finally {
    clearTimeout(timer);
    process.off('exit', endAtOnce);
    for (const end of ends.reverse()) await end();
  }
}
