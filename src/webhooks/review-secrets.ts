import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Database, statement } from '../storage/database.ts';
import { isEncrypted, type SecretBox } from './secret-box.ts';
import { isValid } from './webhook-secret-rows.ts';

/** Number of secrets in one read. Each is decrypted on the event loop. */
const reviewedRows = 500;

const selectSecrets = statement((query, p: { afterId: bigint }, dialect) =>
  query
    .selectFrom('webhook_secrets')
    .innerJoin('webhooks', 'webhooks.id', 'webhook_secrets.webhook_id')
    .select(['webhook_secrets.id', 'public_id', 'status', 'secret'])
    .where('webhook_secrets.id', '>', p.afterId)
    .where(isValid(dialect))
    .orderBy('webhook_secrets.id')
    .limit(sql.lit(reviewedRows)),
);

const updateSecret = statement((query, p: { id: bigint; secret: Uint8Array }) =>
  query.updateTable('webhook_secrets').set({ secret: p.secret }).where('id', '=', p.id),
);

/**
 * Tries all valid secrets of webhooks, and encrypts with the current key those that are stored otherwise. Without `run`,
 * changes nothing. Returns the number of enabled webhooks without a readable secret. `lostKey` is the problem if no key
 * decrypts any secret.
 */
export async function reviewSecrets(
  { read, run }: Pick<Database, 'read'> & Partial<Pick<Database, 'run'>>,
  box: SecretBox,
) {
  /** Whether a secret can be decrypted, for each enabled webhook. */
  const readable = new Map<string, boolean>();
  let hasKey = false;
  for (let afterId = 0n; ; await nextTurn()) {
    const rows = await read(selectSecrets, { afterId });
    for (const { id, public_id, status, secret } of rows) {
      const opened = box.open(secret, public_id);
      if (opened !== null && isEncrypted(secret)) hasKey = true;
      if (status === 'enabled') readable.set(public_id, opened !== null || readable.get(public_id) === true);
      if (opened?.isCurrent === false)
        await run?.(updateSecret, { id, secret: box.seal(opened.secret, public_id) });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < reviewedRows) break;
    afterId = last.id;
  }
  const unreadable = [...readable].filter(([, isReadable]) => !isReadable).map(([id]) => id);
  return { unreadable: unreadable.length, lostKey: hasKey ? null : describeLostKey(unreadable) };
}

function describeLostKey([first, ...others]: readonly string[]) {
  if (first === undefined) return null;
  const whose = others.length === 0 ? first : `${first} and ${others.length} more`;
  return {
    is: `WEBHOOK_SECRET_KEY does not decrypt the secrets of ${whose}`,
    todo: `set the key that encrypted them, or run "animal-store webhooks disable ${first}"`,
  };
}
