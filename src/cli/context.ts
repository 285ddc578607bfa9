import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Store } from '../store.ts';
import type { Terminal } from './terminal.ts';

/** Signals and crashes of the process. */
export interface Lifetime {
  /** Resolves on SIGTERM or SIGINT. */
  untilStopped(): Promise<void>;
  /** Ends the process after `ms` even if it is busy, or earlier if it has nothing left to do. */
  endWithin(ms: number): void;
  /** Calls `report` with an uncaught error, before the process ends with exit code 1. */
  onCrash(report: (error: unknown) => void): void;
}

/** The dependencies of a command. */
export interface CommandContext {
  /** Reads the settings. Throws OperatorError if one is wrong. */
  readonly readConfig: () => Config;
  readonly clock: Clock;
  readonly terminal: Terminal;
  readonly lifetime: Lifetime;
  /**
   * Opens the store for a task and closes it afterwards. Throws OperatorError if there is no store, unless the command
   * creates one.
   */
  readonly withStore: <T>(
    task: (store: Store) => Promise<T>,
    options?: { readonly makesStore?: boolean },
  ) => Promise<T>;
}
