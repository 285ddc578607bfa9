import { stringifyExactJson } from '../exact-json.ts';
import { step, type Work } from '../storage/database.ts';
import type { Act, Deed } from './act.ts';
import { insertDeed } from './audit-rows.ts';

/** Adds a row to the audit log. Runs in the transaction of the change, so that both are stored or neither. */
export function* appendDeed({ actor, nowMs }: Act, deed: Deed): Work<void> {
  const { action, subject, accountId, before, after } = deed;
  yield* step(insertDeed, {
    atMs: BigInt(nowMs),
    actorKind: actor.kind,
    actor: actor.name,
    action,
    subject,
    accountId,
    before: before === null ? null : stringifyExactJson(before),
    after: after === null ? null : stringifyExactJson(after),
  });
}
