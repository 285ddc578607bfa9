import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Posts } from '../kill/posts.ts';
import type { Promises } from './promises.ts';

/** Opens a store after a power loss. Throws if it is damaged, has a partial commit, or lacks what was promised. */
export function requireStore(file: string, posts: Posts, promises: Promises): void {
  const store = existsSync(file) ? readStore(file) : emptyStore;
  if (store.verdict !== 'ok') throw new Error(`the store is damaged: ${store.verdict}`);
  for (const id of promises.keyIds) if (!store.keyIds.has(id)) throw new Error(`the key ${id} is lost`);
  const animals = new Map(store.animals.map((row) => [row['name'], row]));
  for (const [{ name }, id] of promises.animals)
    if (animals.get(name)?.['id'] !== id) throw new Error(`${name}, answered with the id ${id}, is lost`);
  for (const row of store.animals) requireWhole(row, posts);
}

/** Requires that an animal equals the sent one, and that it has an idempotency record if it was sent with a key. */
function requireWhole({ id, name, category_id, status, recorded }: Row, posts: Posts): void {
  const post = posts.byName.get(String(name));
  const isAsSent = post?.categoryId === category_id && (post?.status ?? 'available') === status;
  if (!isAsSent) throw new Error(`the animal ${id} (${name}) is not as it was sent`);
  const isKeyed = post?.idempotencyKey !== null;
  if (isKeyed !== (recorded !== null))
    throw new Error(`the animal ${id} and its idempotency record are not one commit`);
}

type Row = Readonly<Record<string, unknown>>;

interface Store {
  readonly verdict: unknown;
  readonly animals: readonly Row[];
  readonly keyIds: ReadonlySet<unknown>;
}

const emptyStore: Store = { verdict: 'ok', animals: [], keyIds: new Set() };

function readStore(file: string): Store {
  const database = new DatabaseSync(file, { readBigInts: true });
  const query = (sql: string): readonly Row[] => database.prepare(sql).all();
  try {
    // This copy need not survive another power loss, and no sync is faster.
    database.exec('pragma synchronous = off');
    const verdict = query('pragma integrity_check')[0]?.['integrity_check'];
    // The migrations are one transaction, so either all tables exist or none.
    if (query("select 1 from sqlite_master where name = 'pets'").length === 0)
      return { ...emptyStore, verdict };
    const animals = query(
      "select p.*, r.location as recorded from pets p left join first_answers r on r.location = '/pets/' || p.id",
    );
    return { verdict, animals, keyIds: new Set(query('select id from api_keys').map(({ id }) => id)) };
  } catch (error) {
    return { ...emptyStore, verdict: error };
  } finally {
    database.close();
  }
}
