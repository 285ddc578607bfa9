import { type QueryCreator, sql } from 'kysely';
import { selectHolds } from '../orders/order-rows.ts';
import { type Limits, openHoldsMax, openHoldsOf, type Plan, resolvePlan } from '../plans/plan.ts';
import { type RowOf, statement } from '../storage/database.ts';
import { pick } from '../storage/insert-row.ts';
import type { Tables } from '../storage/tables.ts';
import { findByStart, foldCase, lastCharacter } from '../storage/text-start.ts';

/** Returns the plan columns of an account row. The numbers are null unless the plan is enterprise. */
export function toPlanColumns({ name, limits, openHolds }: Plan) {
  const isCustom = name === 'enterprise';
  return {
    plan: name,
    per_minute: isCustom ? BigInt(limits.perMinute) : null,
    per_day: isCustom ? BigInt(limits.perDay) : null,
    open_holds: openHolds === undefined ? null : BigInt(openHolds),
  };
}

/** An account as the statements select it. */
export type AccountRow = RowOf<typeof selectAccount>;

type PlanRow = Pick<AccountRow, (typeof planColumns)[number]>;
type LimitsRow = Pick<AccountRow, (typeof limitColumns)[number]>;

/** Returns the plan of an account row with its effective limits. Throws Error if the row has no valid plan. */
export function readPlan(row: PlanRow): Plan {
  const { per_minute: perMinute, per_day: perDay, open_holds: openHolds } = row;
  const plan = resolvePlan(row.plan, { perMinute, perDay, openHolds });
  if ('problem' in plan) throw new Error(`an account's row has no valid plan: ${plan.problem}`);
  return plan;
}

/** Returns the limits of one account alone. Null if it has none, or if they have ended. */
export function readOwnLimits(row: LimitsRow, nowMs: number): Limits | null {
  const hasEnded = row.own_until_ms !== null && row.own_until_ms <= nowMs;
  if (row.own_per_minute === null || row.own_per_day === null || hasEnded) return null;
  return { perMinute: Number(row.own_per_minute), perDay: Number(row.own_per_day) };
}

/** Returns the limits that apply to an account at `nowMs`: its own, or those of its plan. */
export function readLimits(row: LimitsRow, nowMs: number): Limits {
  return readOwnLimits(row, nowMs) ?? readPlan(row).limits;
}

/** An account as operators see it. */
export type ListedAccount = ReturnType<typeof toListedAccount>;

/** Converts a row into an account. An account without its own number of open holds gets the number of its plan. */
export function toListedAccount(row: AccountRow, nowMs: number) {
  const { name: plan, openHolds = openHoldsOf[plan] } = readPlan(row);
  const hasOwn = readOwnLimits(row, nowMs) !== null;
  return {
    id: row.id,
    account: row.name,
    plan,
    limits: readLimits(row, nowMs),
    /** Null if the account has no limits of its own. `untilMs` is null if they do not end. */
    ownLimits: hasOwn ? { untilMs: row.own_until_ms === null ? null : Number(row.own_until_ms) } : null,
    openHolds,
    createdAtMs: Number(row.created_at_ms),
    suspendedAtMs: row.suspended_at_ms === null ? null : Number(row.suspended_at_ms),
    /** Including expired and revoked keys. */
    keys: Number(row.keys),
  };
}

const planColumns = ['plan', 'per_minute', 'per_day', 'open_holds'] as const;
/** The columns that `readLimits` needs. */
export const limitColumns = [...planColumns, 'own_per_minute', 'own_per_day', 'own_until_ms'] as const;

/** Inserts an account and returns its id. A name that is already taken violates a constraint. */
export const insertAccount = statement((query, p: PlanRow & Pick<AccountRow, 'name' | 'created_at_ms'>) =>
  query
    .insertInto('accounts')
    .values(pick(p, ['name', ...planColumns, 'created_at_ms']))
    .returning('id'),
);

const selectAccounts = (query: QueryCreator<Tables>) =>
  query
    .selectFrom('accounts')
    .where('deleted_at_ms', 'is', null)
    .select(['id', 'name', 'created_at_ms', ...limitColumns, 'suspended_at_ms'])
    .select(({ selectFrom, fn }) =>
      selectFrom('api_keys')
        .select(fn.countAll<bigint>().as('count'))
        .whereRef('api_keys.account_id', '=', 'accounts.id')
        .as('keys'),
    );

/** Selects an account by name. Like all lists of accounts, leaves out deleted ones. */
export const selectAccount = statement((query, p: { name: string }) =>
  selectAccounts(query).where('name', '=', p.name),
);

/** Selects the id of an account by name. `selectAccount` also counts the keys, of which an account may have many. */
export const selectAccountId = statement((query, p: { name: string }) =>
  query.selectFrom('accounts').select('id').where('name', '=', p.name).where('deleted_at_ms', 'is', null),
);

/** Selects the `count` newest accounts from the id `newestId` on. */
export const selectAccountPage = statement((query, p: { newestId: bigint; count: bigint }) =>
  selectAccounts(query).where('id', '<=', p.newestId).orderBy('id', 'desc').limit(p.count),
);

/** Selects `count` accounts whose name begins with `start`, in any case, by name: from `firstId` on, or from the first if 0. */
export const selectAccountsByName = statement(
  (query, p: { start: string; firstId: bigint; count: bigint }, { engine }) => {
    const folded = foldCase[engine];
    const name = folded(sql.ref('name'));
    const start = folded(sql`cast(${p.start} as text)`);
    const first = sql`coalesce((select ${folded(sql.ref('first.name'))} from accounts as first
      where first.id = ${p.firstId}), ${start})`;
    return selectAccounts(query)
      .where(sql<boolean>`${name} >= ${first} and ${name} < ${start} || ${sql.lit(lastCharacter)}`)
      .where(sql<boolean>`(${name} > ${first} or id >= ${p.firstId})`)
      .orderBy(name)
      .orderBy('id')
      .limit(p.count);
  },
);

/** Selects `count` accounts whose name begins with `start`, in any case, by name. Unlike a page, it counts no keys. */
export const selectAccountStarts = statement((query, p: { start: string; count: bigint }, { engine }) => {
  const { where, orderBy } = findByStart(engine, 'name', p.start);
  return query
    .selectFrom('accounts')
    .select(['name', 'suspended_at_ms'])
    .where(where)
    .where('deleted_at_ms', 'is', null)
    .orderBy(orderBy)
    .orderBy('id')
    .limit(p.count);
});

/** Counts the open holds of an account up to the id `newestId` that have not expired. Reads only its open holds. */
export const selectOpenHolds = statement((query, p: { accountId: bigint; newestId: bigint }, dialect) => {
  const holds = selectHolds(query, p, dialect).where('expires_at_ms', '>', dialect.nowMs);
  // As a subquery, because PostgreSQL reads no index in order for a limit that it knows to be high.
  const most = sql<bigint>`(select ${sql.lit(openHoldsMax)})`;
  return query.selectFrom(holds.limit(most).as('held')).select(({ fn }) => fn.countAll<bigint>().as('count'));
});

/** Selects the accounts with these names. `names` is a JSON array. */
export const selectNamedAccounts = statement((query, p: { names: string }, { isAmong }) =>
  selectAccounts(query).where(isAmong('name', p.names, 'text')),
);

/** Selects the ids of at most `count` accounts. Used to check that the store can be read, or that it has an account. */
export const selectAnyAccount = statement((query, p: { count: bigint }) =>
  query.selectFrom('accounts').select('id').limit(p.count),
);

/** Changes an account. A name that is already taken violates a constraint. */
export const updateAccount = statement((query, p: AccountRow) =>
  query
    .updateTable('accounts')
    .set(pick(p, ['name', ...limitColumns, 'suspended_at_ms']))
    .where('id', '=', p.id),
);
