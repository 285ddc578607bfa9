/** A fault or an abuse that is done to the real service, and what must hold through it. */
export interface Scenario {
  /** As `--only` names it. */
  readonly name: string;
  /** What is done, as the fault table says it: a few words. */
  readonly title: string;
  /** How long it may take at scale 1; a run that takes longer has failed. */
  readonly minutes: number;
  /** Does it. A guarantee that was broken throws; what this machine cannot do throws Skipped. */
  run(context: TortureContext): Promise<Outcome>;
}

export interface TortureContext {
  /** What all of its randomness comes from (random.ts), so that a run can be repeated. */
  readonly seed: number;
  /** An empty folder of its own, removed when it ends. */
  readonly folder: string;
  /** 1 is the full run; a tenth of it does a tenth of the rounds, at least one of each. */
  readonly scale: number;
  /** Tells how far it is: one line, without its end. */
  log(line: string): void;
  /** Has something done when the scenario ends, the last named first; it fits what test/support asks of a test. */
  after(end: () => unknown): void;
}

/** A row of the fault table. */
export interface Outcome {
  /** What was done, with its numbers. */
  readonly done: string;
  /** What clients saw. */
  readonly seen: string;
  /** What was lost, of all that had been answered. */
  readonly lost: string;
  /** How long until it was well again. */
  readonly well: string;
  /** What was counted and measured, for the printed report. */
  readonly figures: Readonly<Record<string, number | string>>;
}

/** What this machine or this user cannot do; `message` says what is missing. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}
