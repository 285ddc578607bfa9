import type { Value } from '../database.ts';
import type { PackedError } from './packed-error.ts';
import type { SqliteStatement } from './prepared.ts';

/**
 * A call in a message. Either the number of a statement and its values, or the name and input of a transaction.
 */
export type SentCall =
  | { readonly statement: number; readonly values: Value[] }
  | { readonly name: string; readonly input: unknown };

/** Start data of the writing thread. */
export interface ThreadData {
  readonly path: string;
}

/**
 * One transaction for the writing thread. Statements are numbered in the order in which they are sent. A null message
 * instead of a request ends the thread.
 */
export interface Request {
  readonly newStatements: readonly SqliteStatement[];
  readonly calls: readonly SentCall[];
}

/**
 * The reply of the writing thread to a request. Before any request, the thread sends one reply when the store is
 * open.
 */
export type Reply =
  | { readonly notDone: PackedError }
  /** `results` has one entry for each job. If a job failed, the entry is null and the error is in `failures`. */
  | {
      readonly results: readonly unknown[];
      readonly failures: readonly { readonly job: number; readonly error: PackedError }[];
    };
