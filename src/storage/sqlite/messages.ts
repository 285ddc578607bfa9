import type { Value } from '../database.ts';
import type { PackedError } from './packed-error.ts';
import type { SqliteStatement } from './prepared.ts';

/** A call as it is sent: the number of its statement and the values, or the name of its work and the input. */
export type SentCall =
  | { readonly statement: number; readonly values: Value[] }
  | { readonly module: string; readonly name: string; readonly input: unknown };

/** What the writing thread starts with: its store, and the modules of the works that it may be asked for. */
export interface ThreadData {
  readonly path: string;
  readonly modules: readonly string[];
}

/** One transaction for the writing thread; null ends the thread. Statements are numbered in the order they are sent. */
export interface Request {
  readonly newStatements: readonly SqliteStatement[];
  readonly calls: readonly SentCall[];
}

/** The reply of the writing thread to each request. The first reply, before any request, is that the store is open. */
export type Reply =
  | { readonly notDone: PackedError }
  /** `results` has a place for each job; a job that failed has its error in `failures`. */
  | {
      readonly results: readonly unknown[];
      readonly failures: readonly { readonly job: number; readonly error: PackedError }[];
    };
