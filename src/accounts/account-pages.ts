import { setImmediate as nextTurn } from 'node:timers/promises';
import { int64Max } from '../int64.ts';
import { openHoldsOf } from '../plans/plan.ts';
import { type Database, statement } from '../storage/database.ts';
import { readPlan } from './account-plan.ts';
import type { ListedAccount } from './accounts.ts';

/** Maximum number of accounts that a search by name reads for one page. The next page continues the search. */
export const searchedAccountsMax = 10_000;
/** Rows per query of a search. The event loop runs between two queries, so a search does not block other requests. */
const readRows = 500;

const selectPage = statement<{ newestId: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom('accounts')
    .select(['id', 'name', 'plan', 'per_minute', 'per_day', 'open_holds', 'created_at_ms', 'suspended_at_ms'])
    .where('id', '<=', p.newestId)
    .orderBy('id', 'desc')
    .limit(p.count),
);

/** An account on a page, without the number of its keys. */
export interface PagedAccount extends Omit<ListedAccount, 'keys'> {
  readonly id: bigint;
}

/** A page of accounts, newest first. */
export interface AccountPage {
  readonly accounts: readonly PagedAccount[];
  /** Number of accounts that were read for the page, including accounts that do not match. */
  readonly searched: number;
  /** The `newestId` of the next page; null on the last page. */
  readonly nextNewestId: bigint | null;
}

/** The filter, the size and the start of a page. */
export interface AccountQuery {
  readonly limit: number;
  /** Part of the account name, case-insensitive. An empty text matches all accounts. */
  readonly name: string;
  /** Highest id on the page; null starts at the newest account. */
  readonly newestId: bigint | null;
}

/**
 * Returns a page of accounts. The cost of a page does not grow with the number of accounts. Throws AppError
 * `unavailable` if the database cannot be read.
 */
export async function listAccountPage(
  database: Database,
  { limit, name, newestId }: AccountQuery,
): Promise<AccountPage> {
  const wanted = fold(name);
  const count = name === '' ? limit + 1 : readRows;
  const accounts: PagedAccount[] = [];
  let searched = 0;
  let next: bigint | null = newestId ?? int64Max;
  while (searched < searchedAccountsMax) {
    const rows: readonly AccountRow[] = await database.read(selectPage, {
      newestId: next,
      count: BigInt(count),
    });
    for (const row of rows) {
      if (accounts.length === limit) return { accounts, searched, nextNewestId: row.id };
      searched += 1;
      if (fold(row.name).includes(wanted)) accounts.push(toPagedAccount(row));
    }
    const lastId: bigint | undefined = rows.at(-1)?.id;
    if (rows.length < count || lastId === undefined) return { accounts, searched, nextNewestId: null };
    next = lastId - 1n;
    await nextTurn();
  }
  return { accounts, searched, nextNewestId: next };
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

interface AccountRow {
  readonly id: bigint;
  readonly name: string;
  readonly plan: string;
  readonly per_minute: bigint | null;
  readonly per_day: bigint | null;
  readonly open_holds: bigint | null;
  readonly created_at_ms: bigint;
  readonly suspended_at_ms: bigint | null;
}

/** Converts a row into an account. An account without its own number of open holds gets the number of its plan. */
export function toPagedAccount(row: AccountRow): PagedAccount {
  const { name: plan, limits, openHolds = openHoldsOf[plan] } = readPlan(row);
  return {
    id: row.id,
    account: row.name,
    plan,
    limits,
    openHolds,
    createdAtMs: Number(row.created_at_ms),
    suspendedAtMs: row.suspended_at_ms === null ? null : Number(row.suspended_at_ms),
  };
}
