import type { Value } from '../database.ts';
import type { PackedError } from './packed-error.ts';
import type { SqliteStatement } from './prepared.ts';

/** A call in a message: the number of its statement and the values, or the name of its work and the input. */
export type SentCall =
  | { readonly statement: number; readonly values: Value[] }
  | { readonly module: string; readonly name: string; readonly input: unknown };

/** The start data of the writing thread: its store, and the modules of the works that it may run. */
export interface ThreadData {
  readonly path: string;
  readonly modules: readonly string[];
}

/** One transaction for the writing thread. Null ends the thread. Statements are numbered in the order of sending. */
export interface Request {
  readonly newStatements: readonly SqliteStatement[];
  readonly calls: readonly SentCall[];
}

/** The reply of the writing thread to a request. The first reply, before any request, says that the store is open. */
export type Reply =
  | { readonly notDone: PackedError }
  /** `results` has a place for each job. The error of a failed job is in `failures`. */
  | {
      readonly results: readonly unknown[];
      readonly failures: readonly { readonly job: number; readonly error: PackedError }[];
    };
