import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type Query, requireInvariants } from '../invariants.ts';
import { keyedPrefix } from '../writers.ts';
import type { DiskEvent } from './disk-events.ts';

/**
 * What a response or the output of a command confirmed, such as `pet 7 Rex`, `order 3 completed` and `key key_…`. No
 * power loss may lose it.
 */
export type Promises = Set<string>;

/** Records what sent bytes promise: the body of an answer, or the output of a command. */
export function takePromises(promises: Promises, event: DiskEvent): void {
  if (event.kind !== 'send') return;
  for (const [json, id] of event.text.matchAll(/\{"id":(\d+),"name":"(?:[^"\\]|\\.)*"[^{}]*\}/g))
    promises.add(`pet ${id} ${JSON.parse(json).name}`);
  for (const [, id, status] of event.text.matchAll(/\{"id":(\d+),"petId":[^{}]*"status":"(\w+)"/g))
    promises.add(`order ${id} ${status}`);
  for (const [, id] of event.text.matchAll(/"id":"(key_[^"]+)"/g)) promises.add(`key ${id}`);
}

/** Opens a store after a power loss. Throws if it is damaged, has a partial commit, or lacks what was promised. */
export async function requireStore(file: string, promises: Promises): Promise<void> {
  const held = existsSync(file) ? await readHeld(file) : new Set();
  for (const promise of promises)
    if (!held.has(promise)) throw new Error(`${promise} was answered and is lost`);
}

/** Returns every state that the store had or has, in the words of `Promises`. */
async function readHeld(file: string): Promise<ReadonlySet<string>> {
  const database = new DatabaseSync(file, { readBigInts: true });
  const query: Query = async (sql) => database.prepare(sql).all();
  try {
    // This copy need not survive another power loss, and no sync is faster.
    database.exec('pragma synchronous = off');
    const [row] = await query('pragma integrity_check');
    const verdict = row?.['integrity_check'];
    if (verdict !== 'ok') throw new Error(`the store is damaged: ${verdict}`);
    // The migrations are one transaction, so either all tables exist or none.
    if ((await query("select 1 from sqlite_master where name = 'pets'")).length === 0) return new Set();
    await requireInvariants(query);
    await requireRecorded(query);
    const events = await query('select data from events union all select data from event_outbox');
    const states = events.map(({ data }) => describe(JSON.parse(String(data))));
    return new Set([...states, ...(await query('select id from api_keys')).map(({ id }) => `key ${id}`)]);
  } catch (error) {
    throw new Error(`the store is damaged: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  } finally {
    database.close();
  }
}

function describe({ id, name, status }: { id: number; name?: string; status: string }): string {
  return name === undefined ? `order ${id} ${status}` : `pet ${id} ${name}`;
}

/** Requires that an animal has a recorded first answer if and only if it was sent with a key. */
async function requireRecorded(query: Query): Promise<void> {
  const rows = await query(
    "select p.id, p.name, r.location from pets p left join first_answers r on r.location = '/pets/' || p.id",
  );
  for (const { id, name, location } of rows)
    if (String(name).startsWith(keyedPrefix) !== (location !== null))
      throw new Error(`the animal ${id} (${name}) and its first answer are not one commit`);
}
