import { defineTransaction, type Steps, statement, step } from '../storage/database.ts';

export type HourColumns = {
  accountId: bigint;
  hourAtMs: bigint;
  requests: bigint;
  refusals: bigint;
  errors: bigint;
};

/** Adds the counts to the stored row of the account and the hour. If there is no such row, inserts the row. */
const addHour = statement<HourColumns>()((query, p) =>
  query
    .insertInto('usage_hours')
    .values({
      account_id: p.accountId,
      hour_at_ms: p.hourAtMs,
      requests: p.requests,
      refusals: p.refusals,
      errors: p.errors,
    })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'hour_at_ms']).doUpdateSet(({ eb, ref }) => ({
        requests: eb(ref('usage_hours.requests'), '+', ref('excluded.requests')),
        refusals: eb(ref('usage_hours.refusals'), '+', ref('excluded.refusals')),
        errors: eb(ref('usage_hours.errors'), '+', ref('excluded.errors')),
      })),
    ),
);

/** Adds the counts of one instance. `hours` must be sorted by account and hour, so that instances do not deadlock. */
export const addHours = defineTransaction(
  'addHours',
  function* (hours: readonly HourColumns[]): Steps<void> {
    for (const hour of hours) yield* step(addHour, hour);
  },
  'row locks',
);

export const selectHours = statement<{ accountId: bigint; sinceMs: bigint }>()((query, p) =>
  query
    .selectFrom('usage_hours')
    .select(['hour_at_ms', 'requests', 'refusals', 'errors'])
    .where('account_id', '=', p.accountId)
    .where('hour_at_ms', '>=', p.sinceMs)
    .orderBy('hour_at_ms'),
);

/** Selects at most `count` hours that began before `beforeMs`, oldest first. */
export const selectOldHours = statement<{ beforeMs: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom(({ selectFrom }) =>
      selectFrom('usage_hours')
        .select(['account_id', 'hour_at_ms'])
        .where('hour_at_ms', '<', p.beforeMs)
        .orderBy('hour_at_ms')
        .limit(p.count)
        .as('old'),
    )
    .select(['old.account_id', 'old.hour_at_ms']),
);

const deleteHour = statement<{ accountId: bigint; hourAtMs: bigint }>()((query, p) =>
  query.deleteFrom('usage_hours').where('account_id', '=', p.accountId).where('hour_at_ms', '=', p.hourAtMs),
);

export const deleteHours = defineTransaction(
  'deleteHours',
  function* (hours: readonly { readonly accountId: bigint; readonly hourAtMs: bigint }[]): Steps<void> {
    for (const { accountId, hourAtMs } of hours) yield* step(deleteHour, { accountId, hourAtMs });
  },
  'row locks',
);
