import { AppError } from '../errors.ts';

/** Returns the 403 error for requests of a suspended account. */
export function accountSuspended(): AppError {
  return new AppError('account_suspended', 'this account is suspended; ask the operator of the store');
}
