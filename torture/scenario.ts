/** A fault or an abuse of the real service, and what must hold during it. */
export interface Scenario {
  /** The name for `--only`. */
  readonly name: string;
  /** A few words for the fault table. */
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
  /** 1 is the full run. A tenth does a tenth of the rounds, but at least one of each. */
  readonly scale: number;
  /** Reports progress in one line, without a newline. */
  log(line: string): void;
  /** Runs an action when the scenario ends, in reverse order. It has the form that test/support expects of a test. */
  after(end: () => unknown): void;
}

/** A row of the fault table. */
export interface Outcome {
  /** What was done, with its numbers. */
  readonly done: string;
  /** What clients saw. */
  readonly seen: string;
  /** What was lost of everything answered. */
  readonly lost: string;
  /** How long until the service recovered. */
  readonly well: string;
  /** Counts and measurements for the printed report. */
  readonly figures: Readonly<Record<string, number | string>>;
}

/** Thrown if this machine or this user cannot run a scenario. `message` says what is missing. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}
