import { AppError } from '../errors.ts';

/** Returns the error for a fault of the store. `cause` is only logged. */
export function storeUnavailable(cause?: unknown): AppError {
  return new AppError('unavailable', 'the store cannot do this at the moment; try again', { cause });
}

/** Returns the error for a call that is refused because too many calls wait for the store. */
export function storeOverloaded(): AppError {
  return new AppError('unavailable', 'too many calls wait for the store; try again');
}
