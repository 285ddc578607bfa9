import { escapeLiteral } from 'pg';
import type { AuditAction, Authorship } from '../../audit/audit-log.ts';
import type { Restored } from '../sqlite/restore.ts';
import { describeServer } from './client.ts';
import { usePostgresStore } from './whole-store.ts';

/**
 * Tells a store on PostgreSQL that its content is an earlier one: of a dump, or of a snapshot of the server's disk. The
 * store skips the ids that may be lost, puts the webhooks on hold and ends the sessions of operators (`skip_lost_ids`). Returns
 * the name of the store, and what an operator should know. Throws OperatorError if an instance uses the store. The store must have the newest schema.
 */
export async function restorePostgresInPlace(url: string, { actor, nowMs }: Authorship) {
  const store = describeServer(url);
  const texts = [actor.kind, actor.name, 'store.restored' satisfies AuditAction, store];
  return usePostgresStore(url, async ({ requireUnserved, query }) => {
    await requireUnserved();
    const sessions = await query('select 1 from console_sessions');
    await query('update server_timeline set timeline = 0');
    await query(`insert into audit (at_ms, actor_kind, actor, action, subject)
      values (${nowMs}, ${texts.map(escapeLiteral)})`);
    const onHold = `select 1 from webhooks where status = 'disabled' and disabled_because = 'restored'`;
    const operators = await query('select name from operators order by name');
    const restored: Restored = {
      webhooksOnHold: (await query(onHold)).length,
      keysThatWorkAgain: null,
      sessionsEnded: sessions.length,
      operatorsToCheck: operators.map(({ name }) => String(name)),
    };
    return { store, restored };
  });
}
