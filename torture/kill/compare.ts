import { hashIdempotencyKey } from '../../src/idempotency/first-answer.ts';
import type { EmbeddedStore } from '../embedded-store.ts';
import type { Post, Posts } from './posts.ts';

/** Compares the rows of a store with the answers that clients received. */
export interface Comparison {
  /**
   * Compares the rows added since the last comparison. Throws if an answered animal is missing, wrong or repeated, or if
   * no client sent it.
   */
  compareNew(sent: readonly Post[]): void;
  /** Compares all rows, because rows of earlier rounds must be unchanged. Returns the number of rows. */
  compareAll(): number;
}

export function createComparison(store: EmbeddedStore, posts: Posts): Comparison {
  let newestId = 0n;

  function compareRows(afterId: bigint): number {
    const rows = store.query(
      `select id, name, category_id, status from pets where id > ${afterId} order by id`,
    );
    for (const row of rows) compareRow(posts, row);
    newestId = (rows.at(-1)?.['id'] as bigint | undefined) ?? newestId;
    return rows.length;
  }

  return {
    compareNew(sent) {
      const afterId = newestId;
      compareRows(afterId);
      for (const post of sent) requireStored(post, afterId);
      compareRecords(store, posts, sent, afterId);
    },

    compareAll() {
      for (const post of posts.byName.values()) post.storedId = null;
      const count = compareRows(0n);
      for (const post of posts.byName.values()) requireStored(post, 0n);
      return count;
    },
  };
}

function compareRow(posts: Posts, row: Record<string, unknown>): void {
  const post = posts.byName.get(String(row['name']));
  const text = `the row ${row['id']} (${row['name']})`;
  if (post === undefined) throw new Error(`${text} is an animal that no client sent`);
  if (post.storedId !== null) throw new Error(`${text} repeats the row ${post.storedId}`);
  if (row['category_id'] !== post.categoryId || row['status'] !== (post.status ?? 'available'))
    throw new Error(`${text} differs from the fields that were sent`);
  if (post.answeredId !== null && post.answeredId !== row['id'])
    throw new Error(`${text} was answered with the id ${post.answeredId}`);
  post.storedId = row['id'] as bigint;
}

function requireStored({ name, answeredId, storedId }: Post, afterId: bigint): void {
  if (answeredId === null) return;
  if (storedId !== answeredId) throw new Error(`${name} was answered with the id ${answeredId} and is lost`);
  if (storedId <= afterId) throw new Error(`${name} has the id ${storedId}, which is not above ${afterId}`);
}

/** Requires that each animal sent with a key has a recorded first answer, and that each first answer has its animal. */
function compareRecords(store: EmbeddedStore, posts: Posts, sent: readonly Post[], afterId: bigint): void {
  const rows = store.query(
    `select r.account_id, r.key_hash, r.location, p.id, p.name from first_answers r
      left join pets p on r.location = '/pets/' || p.id
      where cast(replace(r.location, '/pets/', '') as integer) > ${afterId}`,
  );
  const hashOf = (accountId: unknown, key: string) =>
    Buffer.from(hashIdempotencyKey(accountId as bigint, key)).toString('hex');
  const ids = new Set<unknown>();
  for (const { account_id, key_hash, location, id, name } of rows) {
    const key = posts.byName.get(String(name))?.idempotencyKey ?? null;
    if (key === null || hashOf(account_id, key) !== Buffer.from(key_hash as Uint8Array).toString('hex'))
      throw new Error(`the first answer with the location ${location} belongs to ${name}`);
    ids.add(id);
  }
  for (const { idempotencyKey, storedId, name } of sent)
    if (idempotencyKey !== null && storedId !== null && !ids.has(storedId))
      throw new Error(`${name} is stored as ${storedId} without the first answer of its key`);
}
