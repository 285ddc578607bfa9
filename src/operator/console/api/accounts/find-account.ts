import { type PagedAccount, toPagedAccount } from '../../../../accounts/account-pages.ts';
import { selectAccount } from '../../../../accounts/account-rows.ts';
import { AppError } from '../../../../errors.ts';
import type { Database } from '../../../../storage/database.ts';

/** The account with the name in a path. Throws `not_found`. */
export async function findAccount(database: Database, name: string | undefined): Promise<PagedAccount> {
  const [row] = await database.read(selectAccount, { name: name ?? '' });
  if (row === undefined) throw new AppError('not_found', 'there is no account with this name');
  return toPagedAccount(row);
}
