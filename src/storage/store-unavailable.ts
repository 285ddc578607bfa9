import { AppError } from '../errors.ts';

/** What a caller may know of a fault of the store; its cause is for the log. */
export function storeUnavailable(cause?: unknown): AppError {
  return new AppError('unavailable', 'the store cannot do this at the moment; try again', { cause });
}

/** What a caller is told where so much waits for the store already that more would only wait in vain. */
export function storeOverloaded(): AppError {
  return new AppError('unavailable', 'too much is waiting for the store; try again');
}
