import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { findPostgres } from '../../../support/engines.ts';
import { expectError } from '../../../support/expect-error.ts';
import { startService } from '../../../support/service.ts';
import { startOn } from '../../engine-service.ts';

const service = await startService({ after }, { ENVIRONMENT: 'development' });
const key = await service.createKey();

const send = (method: string, path: string, body?: unknown, by = key) =>
  body === undefined ? service.request(by, path, { method }) : service.send(by, `${method} ${path}`, body);

test('a webhook names the key that created it', async () => {
  const { key: caller } = (await (await send('GET', '/account')).json()) as { key: { id: string } };
  const made = await send('POST', '/webhooks', { url: 'https://a.example' });
  assert.partialDeepStrictEqual(await made.json(), { keyId: caller.id });
});

test('an invalid webhook gets 400, and the message names the field and its rule', async () => {
  const fine = { url: 'https://a.example' };
  const made = (await (await send('POST', '/webhooks', fine)).json()) as { id: string };
  const wrong: [field: string, values: unknown[]][] = [
    [
      'url',
      [
        ...['', 5, null, 'ftp://a.example', 'https://u:p@a.example', 'https://a.example/#x'],
        ...['https:///%ff:x@host/0', 'https:///user:secret@host/', 'https://host:0/', 'https://münchen.de'],
      ],
    ],
    ['types', [[], null, 'pet.added', ['pet.changed'], [5], Array(11).fill('pet.added')]],
    ['status', ['', null, 'on']],
    ['after', ['', null, 5, 'evt_1', 'evt_0000000000000000']],
  ];
  for (const [field, values] of wrong)
    for (const value of values) {
      const answer = await send('PATCH', `/webhooks/${made.id}`, { [field]: value });
      const { code, message } = (await answer.json()) as { code: string; message: string };
      assert.deepEqual([answer.status, code], [400, 'invalid_body'], `${field} ${JSON.stringify(value)}`);
      assert.match(
        message,
        new RegExp(
          `^${field} must be (?:an https URL .* ASCII .* valid host and port|a list|one of|"now" or)`,
        ),
      );
    }
  for (const body of [{}, { url: null }, { ...fine, types: [] }])
    assert.equal((await send('POST', '/webhooks', body)).status, 400);
  assert.equal((await send('DELETE', `/webhooks/${made.id}`)).status, 204);
});

const acts = [
  ['GET', ''],
  ['PATCH', ''],
  ['DELETE', ''],
  ['POST', '/ping'],
  ['POST', '/rotate-secret'],
] as const;

test('a webhook of another account gets 404', async () => {
  const made = (await (await send('POST', '/webhooks', { url: 'https://a.example' })).json()) as {
    id: string;
  };
  const other = await service.createKey();
  for (const [method, path] of acts) {
    const body = method === 'PATCH' ? {} : undefined;
    assert.equal((await send(method, `/webhooks/${made.id}${path}`, body, other)).status, 404, method + path);
  }
  assert.deepEqual(await (await send('GET', '/webhooks', undefined, other)).json(), []);
});

const postgres = await findPostgres();

test('a text that PostgreSQL cannot store is not found as a webhook id', {
  skip: postgres.skip,
}, async (t) => {
  const onPostgres = await startOn(t, postgres);
  for (const [method, path] of acts) {
    const init = method === 'PATCH' ? { headers: { 'content-type': 'application/json' }, body: '{}' } : {};
    const answer = await onPostgres.service.request(onPostgres.key, `/webhooks/wh_%00${path}`, {
      method,
      ...init,
    });
    await expectError(answer, 404, 'not_found');
  }
});
