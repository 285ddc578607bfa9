import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { findPostgres } from '../../../support/engines.ts';
import { expectError } from '../../../support/expect-error.ts';
import { testsUnless } from '../../../support/programs.ts';
import { startWithKey, type TestService } from '../../../support/service.ts';
import { startOn } from '../../engine-service.ts';

const postgres = await findPostgres();
const { service, key } = await startWithKey({ after }, { ENVIRONMENT: 'development' });

const send = (line: string, body?: unknown, by = key) => service.send(by, line, body);
const makeOne = async () =>
  (await (await send('POST /webhooks', { url: 'https://a.example' })).json()) as Record<
    'id' | 'keyId',
    string
  >;

test('a webhook names the key that created it', async () => {
  const { key: caller } = (await (await send('GET /account')).json()) as { key: { id: string } };
  assert.equal((await makeOne()).keyId, caller.id);
});

test('an invalid webhook gets a 400 that names the field and its rule', async () => {
  const { id } = await makeOne();
  const wrong: Readonly<Record<string, readonly unknown[]>> = {
    url: [
      ...['', 5, null, 'ftp://a.example', 'https://u:p@a.example', 'https://a.example/#x'],
      ...['https:///%ff:x@host/0', 'https:///user:secret@host/', 'https://host:0/', 'https://münchen.de'],
    ],
    types: [[], null, 'pet.added', ['pet.changed'], [5], Array(101).fill('pet.added')],
    status: ['', null, 'on'],
    after: ['', null, 5, 'evt_1', 'evt_0000000000000000'],
  };
  for (const [field, values] of Object.entries(wrong))
    for (const value of values) {
      const answer = await send(`PATCH /webhooks/${id}`, { [field]: value });
      const rules = '(?:an https URL .* ASCII .* valid host and port|a list|one of|"now" or)';
      const message = await expectError(answer, 400, 'invalid_body');
      assert.match(message, new RegExp(`^${field} must be ${rules}`), `${field} ${JSON.stringify(value)}`);
    }
  for (const body of [{}, { url: null }, { url: 'https://a.example', types: [] }])
    assert.equal((await send('POST /webhooks', body)).status, 400);
  assert.equal((await send(`DELETE /webhooks/${id}`)).status, 204);
});

/** Sends every request that names a webhook. Throws unless each gets 404. */
async function expectNotFound({ send }: TestService, by: string, id: string): Promise<void> {
  for (const line of ['GET', 'PATCH', 'DELETE', 'POST /ping', 'POST /rotate-secret']) {
    const [method = '', action = ''] = line.split(' ');
    const answer = await send(by, `${method} /webhooks/${id}${action}`, method === 'PATCH' ? {} : undefined);
    await expectError(answer, 404, 'not_found');
  }
}

test('a webhook of another account gets 404', async () => {
  const other = await service.createKey();
  await expectNotFound(service, other, (await makeOne()).id);
  assert.deepEqual(await (await send('GET /webhooks', undefined, other)).json(), []);
});

testsUnless(postgres.skip)('a text that PostgreSQL cannot store is not found as a webhook id', async (t) => {
  const onPostgres = await startOn(t, postgres);
  await expectNotFound(onPostgres.service, onPostgres.key, 'wh_%00');
});
