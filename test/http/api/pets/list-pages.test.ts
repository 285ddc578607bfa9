import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { expectError } from '../../../support/expect-error.ts';
import { startService, type TestService } from '../../../support/service.ts';

interface Page {
  readonly ids: number[];
  /** The target of `rel="next"`. Null on the last page. */
  readonly next: string | null;
}

const service = await startService({ after });
const key = await service.createKey();
await service.importPets(60);

async function getPage(address: string, from: TestService = service, withKey = key): Promise<Page> {
  const response = await from.request(withKey, address.replace(/^\/v1/, ''));
  assert.equal(response.status, 200);
  const pets = (await response.json()) as { id: number }[];
  const link = response.headers.get('link');
  const next = link === null ? null : (/^<([^<>]+)>; rel="next"$/.exec(link)?.[1] ?? assert.fail(link));
  return { ids: pets.map(({ id }) => id), next };
}

async function walk(first: string): Promise<Page[]> {
  const pages: Page[] = [];
  for (let next: string | null = first; next !== null; ) {
    const page: Page = await getPage(next);
    pages.push(page);
    next = page.next;
  }
  return pages;
}

async function readCursor(query: string): Promise<string> {
  const { next } = await getPage(`/pets?${query}`);
  return new URL(next ?? '', 'http://localhost').searchParams.get('cursor') ?? '';
}

test('the last page has no Link, even if it is full', async () => {
  assert.equal((await getPage('/pets?limit=60')).next, null);
  const pages = await walk('/pets?limit=20');
  assert.deepEqual(
    pages.map(({ ids, next }) => [ids.length, next === null]),
    [
      [20, false],
      [20, false],
      [20, true],
    ],
  );
});

test('each page may have a different limit', async () => {
  const cursor = await readCursor('limit=10');
  assert.deepEqual((await getPage(`/pets?limit=2&cursor=${cursor}`)).ids, [50, 49]);
});

test('links and locations begin with PUBLIC_URL if it is set', async (t) => {
  const shown = await startService(t, { PUBLIC_URL: 'https://api.example.com/shop/v1' });
  const shownKey = await shown.createKey();
  await shown.importPets(2);
  const list = await shown.request(shownKey, '/pets?limit=1');
  assert.match(
    list.headers.get('link') ?? '',
    /^<https:\/\/api\.example\.com\/shop\/v1\/pets\?limit=1&cursor=/,
  );
  const added = await shown.post(shownKey, { name: 'Rex', categoryId: 1 });
  assert.equal(added.headers.get('location'), 'https://api.example.com/shop/v1/pets/3');
  const got = await shown.request(shownKey, '/pets/1');
  assert.equal(got.headers.get('link'), '<https://api.example.com/shop/v1/pets>; rel="successor-version"');
});

test('another service over the same store accepts a cursor', async (t) => {
  const first = await startService(t);
  const reader = await first.createKey();
  await first.importPets(10);
  const page = await first.request(reader, '/pets?limit=5');
  const next = /<\/v1(.*)>/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
  await first.stop();
  const second = await startService(t, { DATABASE_URL: first.config.databaseUrl });
  const rest = (await (await second.request(reader, next)).json()) as { id: number }[];
  assert.deepEqual(
    rest.map(({ id }) => id),
    [5, 4, 3, 2, 1],
  );
  await second.stop();
});

async function expectBadCursor(query: string): Promise<void> {
  const response = await service.request(key, `/pets?${query}`);
  assert.match(await expectError(response, 400, 'invalid_parameter'), /^cursor must /);
}

test('a changed, shortened, extended, empty, repeated or invalid cursor gets 400', async () => {
  const cursor = await readCursor('limit=10');
  const changed = `${cursor[0] === 'A' ? 'B' : 'A'}${cursor.slice(1)}`;
  const others = [changed, cursor.slice(0, -1), cursor.slice(1), `${cursor}A`, `${cursor}=`, `${cursor}%20`];
  for (const value of [...others, '', '20', '%00', `${cursor}&cursor=${cursor}`])
    await expectBadCursor(`cursor=${value}`);
});
