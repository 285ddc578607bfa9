import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Store } from '../store.ts';
import type { Terminal } from './terminal.ts';

/** What happens to the process from outside, or against its will. */
export interface Lifetime {
  /** Settles when the process is told to stop. */
  untilStopped(): Promise<void>;
  /** Ends the process within a time, whatever it is doing then; sooner where nothing is left to do. */
  endWithin(ms: number): void;
  /** Has a failure that nobody caught told by `tell`, before the process ends with exit code 1. */
  onCrash(tell: (error: unknown) => void): void;
}

/** What a command has to work with. */
export interface CommandContext {
  /** Reads the settings; throws OperatorError where one is wrong. */
  readonly readConfig: () => Config;
  readonly clock: Clock;
  readonly terminal: Terminal;
  readonly lifetime: Lifetime;
  /** Opens the store for a task and closes it after. */
  readonly withStore: <T>(task: (store: Store) => Promise<T>) => Promise<T>;
}
