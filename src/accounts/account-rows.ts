import type { QueryCreator } from 'kysely';
import { insertion, statement } from '../storage/database.ts';
import type { Tables } from '../storage/tables.ts';

/**
 * Inserts an account and returns its id. `perMinute`, `perDay` and `openHolds` are null unless the plan is
 * enterprise. A name that is already taken violates a constraint.
 */
export const insertAccount = insertion<{
  name: string;
  plan: string;
  perMinute: bigint | null;
  perDay: bigint | null;
  openHolds: bigint | null;
  createdAtMs: bigint;
}>()((query, rows) =>
  query
    .insertInto('accounts')
    .values(
      rows.map((p) => ({
        name: p.name,
        plan: p.plan,
        per_minute: p.perMinute,
        per_day: p.perDay,
        open_holds: p.openHolds,
        created_at_ms: p.createdAtMs,
      })),
    )
    .returning('id'),
);

const accountColumns = [
  'id',
  'name',
  'plan',
  'per_minute',
  'per_day',
  'open_holds',
  'created_at_ms',
  'suspended_at_ms',
] as const;

/** Selects an account by name. */
export const selectAccount = statement<{ name: string }>()((query, p) =>
  query.selectFrom('accounts').select(accountColumns).where('name', '=', p.name),
);

const selectListed = (query: QueryCreator<Tables>) =>
  query
    .selectFrom('accounts')
    .select(accountColumns)
    .select(({ selectFrom, fn }) =>
      selectFrom('api_keys')
        .select(fn.countAll<bigint>().as('count'))
        .whereRef('api_keys.account_id', '=', 'accounts.id')
        .as('keys'),
    );

/** Selects all accounts with the number of their keys, oldest first. */
export const selectListedAccounts = statement<Record<never, never>>()((query) =>
  selectListed(query).orderBy('id'),
);

/** Selects one account by name, with the number of its keys. */
export const selectListedAccount = statement<{ name: string }>()((query, p) =>
  selectListed(query).where('name', '=', p.name),
);

/** Selects the ids of at most `count` accounts. Used to check that the store can be read, or that it has an account. */
export const selectAnyAccount = statement<{ count: bigint }>()((query, p) =>
  query.selectFrom('accounts').select('id').limit(p.count),
);

/** Changes the plan of an account. `perMinute`, `perDay` and `openHolds` are null unless the plan is enterprise. */
export const updateAccountPlan = statement<{
  name: string;
  plan: string;
  perMinute: bigint | null;
  perDay: bigint | null;
  openHolds: bigint | null;
}>()((query, p) =>
  query
    .updateTable('accounts')
    .set({ plan: p.plan, per_minute: p.perMinute, per_day: p.perDay, open_holds: p.openHolds })
    .where('name', '=', p.name),
);

/** Changes the name of an account. A name that is already taken violates a constraint. */
export const updateAccountName = statement<{ id: bigint; name: string }>()((query, p) =>
  query.updateTable('accounts').set({ name: p.name }).where('id', '=', p.id),
);

/** Suspends an account. A null `suspendedAtMs` resumes the account. */
export const updateSuspension = statement<{ id: bigint; suspendedAtMs: bigint | null }>()((query, p) =>
  query.updateTable('accounts').set({ suspended_at_ms: p.suspendedAtMs }).where('id', '=', p.id),
);
