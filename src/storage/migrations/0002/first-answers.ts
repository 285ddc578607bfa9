import { hash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../../database.ts';
import type { Tables } from '../../tables.ts';

const batchRows = 1_000;

/**
 * The columns of a stored response, from an old idempotency record and its animal. The response was the one that
 * created the animal. The animal is unchanged since then, because the previous release could not change animals.
 */
const firstAnswer = (quote: 'json_quote' | 'to_json') =>
  sql.raw(`'createPet', idempotency_records.body_hash, 201, '/pets/' || pets.id,
    '{"id":' || pets.id || ',"name":' || ${quote}(pets.name) || ',"categoryId":' || pets.category_id
      || ',"status":"' || pets.status || '"}',
    idempotency_records.created_at_ms`);

const names = sql.raw('account_id, key_hash, operation, body_hash, status, location, body, created_at_ms');

/**
 * Converts each old idempotency record into a stored response under the hash of its key. Deletes the keys themselves.
 */
export async function moveFirstAnswers(db: Kysely<Tables>, engine: Dialect['engine']): Promise<void> {
  if (engine === 'postgres') await moveByServer(db);
  else await moveByHand(db);
  const clear = engine === 'postgres' ? sql`delete from` : sql`drop table`;
  await sql`${clear} idempotency_records`.execute(db);
}

async function moveByServer(db: Kysely<Tables>): Promise<void> {
  await sql`insert into first_answers (${names})
    select account_id, sha256(convert_to(account_id || ' ' || key, 'UTF8')), ${firstAnswer('to_json')}
    from idempotency_records join pets on pets.id = pet_id`.execute(db);
}

/** Hashes in this process, because SQLite has no hash function. */
async function moveByHand(db: Kysely<Tables>): Promise<void> {
  let after = { account: '0', key: '' };
  for (;;) {
    const { rows } = await sql<typeof after>`select cast(account_id as text) as account, key
      from idempotency_records where (account_id, key) > (cast(${after.account} as integer), ${after.key})
      order by account_id, key limit ${batchRows}`.execute(db);
    for (const { account, key } of rows)
      await sql`insert into first_answers (${names})
        select account_id, ${hash('sha256', `${account} ${key}`, 'buffer')}, ${firstAnswer('json_quote')}
        from idempotency_records join pets on pets.id = pet_id
        where account_id = cast(${account} as integer) and key = ${key}`.execute(db);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last;
  }
}
