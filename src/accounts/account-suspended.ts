import { AppError } from '../errors.ts';

/** The error for every request of a suspended account. */
export function accountSuspended(): AppError {
  return new AppError('account_suspended', 'this account is suspended; ask the operator of the store');
}
