import { AppError } from '../errors.ts';

/** The error that a caller gets for a fault of the store. The cause is for the log. */
export function storeUnavailable(cause?: unknown): AppError {
  return new AppError('unavailable', 'the store cannot do this at the moment; try again', { cause });
}

/** The error that a caller gets if too many calls wait for the store already. */
export function storeOverloaded(): AppError {
  return new AppError('unavailable', 'too many calls wait for the store; try again');
}
