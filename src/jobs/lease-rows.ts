import { sql } from 'kysely';
import { statement } from '../storage/database.ts';

/**
 * Takes or renews a lease until `leaseMs` from now, by the store's clock. Returns one row, or none if another holder
 * has the lease.
 */
export const takeLease = statement<{ name: string; holder: string; leaseMs: bigint }>()(
  (query, p, { nowMs }) =>
    query
      .insertInto('leases')
      .values({
        name: p.name,
        holder: p.holder,
        until_ms: sql<bigint>`${nowMs} + cast(${p.leaseMs} as bigint)`,
      })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet({
            holder: ({ ref }) => ref('excluded.holder'),
            until_ms: ({ ref }) => ref('excluded.until_ms'),
          })
          .where(sql<boolean>`leases.holder = excluded.holder or leases.until_ms <= ${nowMs}`),
      )
      .returning('holder'),
);

export const deleteLease = statement<{ name: string; holder: string }>()((query, p) =>
  query.deleteFrom('leases').where('name', '=', p.name).where('holder', '=', p.holder),
);
