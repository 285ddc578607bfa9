import { insertion, statement } from '../storage/database.ts';

/**
 * Adds an account and gives its id; both numbers are null unless the plan is enterprise. A name that is taken breaks
 * a constraint.
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
] as const;

/** The account of a name, in one row or none. */
export const selectAccount = statement<{ name: string }>()((query, p) =>
  query.selectFrom('accounts').select(accountColumns).where('name', '=', p.name),
);

/** Every account with the number of its keys, in the order in which they were made. */
export const selectAccounts = statement<Record<never, never>>()((query) =>
  query
    .selectFrom('accounts')
    .select(accountColumns)
    .select(({ selectFrom, fn }) =>
      selectFrom('api_keys')
        .select(fn.countAll<bigint>().as('count'))
        .whereRef('api_keys.account_id', '=', 'accounts.id')
        .as('keys'),
    )
    .orderBy('id'),
);

/** The ids of at most `count` accounts: whether there is one, and whether the store answers. */
export const selectAnyAccount = statement<{ count: bigint }>()((query, p) =>
  query.selectFrom('accounts').select('id').limit(p.count),
);

/** Moves the account of a name to a plan; gives a row where there is such an account. */
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
    .where('name', '=', p.name)
    .returning(accountColumns),
);
