import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Store } from '../store.ts';
import type { Terminal } from './terminal.ts';

/** Signals and crashes of the process. */
export interface Lifetime {
  /** Resolves on SIGTERM or SIGINT. */
  untilStopped(): Promise<void>;
  /** Ends the process after `ms`, even if it still has pending work. Without pending work, it ends earlier. */
  endWithin(ms: number): void;
  /** Sets the function that reports an uncaught error. The process then ends with exit code 1. */
  onCrash(report: (error: unknown) => void): void;
}

/** The dependencies of a command. */
export interface CommandContext {
  /** Reads the settings. Throws OperatorError if a setting is invalid. */
  readonly readConfig: () => Config;
  readonly clock: Clock;
  readonly terminal: Terminal;
  readonly lifetime: Lifetime;
  /**
   * Opens the store for a task and closes it afterwards. If the store does not exist, throws OperatorError. With
   * `makesStore`, creates the store instead.
   */
  readonly withStore: <T>(
    task: (store: Store) => Promise<T>,
    options?: { readonly makesStore?: boolean },
  ) => Promise<T>;
}
