/** A fault or an abuse of the real service, and what must hold during it. */
export interface Scenario {
  /** The name for `--only`. */
  readonly name: string;
  /** A short description, printed by `--list` and at the start of a run. */
  readonly title: string;
  /** The time limit at scale 1, in minutes. A longer run has failed. */
  readonly minutes: number;
  /** Runs the scenario. Throws if a guarantee is broken, and Skipped if this machine cannot run it. */
  run(context: TortureContext): Promise<Outcome>;
}

export interface TortureContext {
  /** The seed of all randomness (random.ts), so that a run can be repeated. */
  readonly seed: number;
  /** An empty folder that is removed at the end. */
  readonly folder: string;
  /** The share of the full run: 0.1 runs a tenth of the rounds, but each kind of round at least once. */
  readonly scale: number;
  /** Reports progress in one line, without a newline. */
  log(line: string): void;
  /** Runs an action when the scenario ends, in reverse order. Helpers of test/support use it like `after` of a test. */
  after(end: () => unknown): void;
}

/** A row of the fault table. */
export interface Outcome {
  /** What was done, with its numbers. */
  readonly done: string;
  /** What clients saw. */
  readonly seen: string;
  /** Which answered changes were lost. */
  readonly lost: string;
  /** The time until the service recovered. */
  readonly well: string;
}

/** Thrown if this machine or this user cannot run a scenario. `message` says what is missing. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}

/** Scales the count of a full run. Returns at least `min`. */
export function share(count: number, { scale }: Pick<TortureContext, 'scale'>, min = 1): number {
  return Math.max(min, Math.round(count * scale));
}
