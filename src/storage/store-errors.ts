import { AppError, OperatorError, reasonOf } from '../errors.ts';

/** Returns the error for a fault of the store. `cause` is only logged. */
export function storeUnavailable(cause?: unknown): AppError {
  return new AppError('unavailable', 'the store cannot do this at the moment; try again', { cause });
}

/** Returns the error for a call that is refused because too many calls wait for the store. */
export function storeOverloaded(): AppError {
  return new AppError('unavailable', 'too many calls wait for the store; try again');
}

/** Returns an OperatorError of one line for an error of opening a store. Returns an OperatorError unchanged. */
export function toOpeningError(store: string, error: unknown): OperatorError {
  if (error instanceof OperatorError) return error;
  return new OperatorError(`the database ${store} cannot be opened: ${reasonOf(error)}`, { cause: error });
}
