import { OperatorError, reasonOf } from '../errors.ts';

/** Returns an OperatorError of one line for an error of opening a store. Returns an OperatorError unchanged. */
export function toOpeningError(store: string, error: unknown): OperatorError {
  if (error instanceof OperatorError) return error;
  return new OperatorError(`the database ${store} cannot be opened: ${reasonOf(error)}`, { cause: error });
}
