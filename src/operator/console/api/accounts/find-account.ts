import { type PagedAccount, toPagedAccount } from '../../../../accounts/account-pages.ts';
import { selectAccount } from '../../../../accounts/account-rows.ts';
import { AppError } from '../../../../errors.ts';
import type { Database } from '../../../../storage/database.ts';

/** Returns the account with this name. Throws `not_found` if it does not exist. */
export async function findAccount(database: Database, name: string | undefined): Promise<PagedAccount> {
  const [row] = await database.read(selectAccount, { name: name ?? '' });
  if (row === undefined) throw new AppError('not_found', 'there is no account with this name');
  return toPagedAccount(row);
}
