import { setImmediate as nextTurn } from 'node:timers/promises';
import { int64Max } from '../int64.ts';
import { openHoldsOf } from '../plans/plan.ts';
import { type Database, statement } from '../storage/database.ts';
import { readPlan } from './account-plan.ts';
import type { ListedAccount } from './accounts.ts';

/** The most accounts that one page reads when it searches by name. The next page continues after them. */
export const searchedAccountsMax = 10_000;
/** How many accounts it reads at once. The event loop runs between two reads. */
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
  /** How many accounts were read for the page. */
  readonly searched: number;
  /** The first id of the next page. Null on the last page. */
  readonly nextNewestId: bigint | null;
}

/** A query for a page of accounts. */
export interface AccountQuery {
  readonly limit: number;
  /** A part of the name, in any case. Empty for all. */
  readonly name: string;
  /** Only accounts whose id is at most this; null begins with the newest. */
  readonly newestId: bigint | null;
}

/** Reads a page of accounts. The cost does not depend on their number. Fails as the database does (database.ts). */
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

/** Converts a row into an account. */
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
