import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { expectError } from '../../support/expect-error.ts';
import { exchangeOne, formatHeads } from '../../support/raw-http.ts';
import { startWithKey } from '../../support/service.ts';

const { service, key } = await startWithKey({ after });
const rex = '{"name":"Rex","categoryId":9223372036854775807}';

function post(idempotencyKey: string, body = rex, withKey = key): Promise<Response> {
  return service.post(withKey, body, { 'idempotency-key': idempotencyKey });
}

test('a repeated request with the same Idempotency-Key replays the first response', async () => {
  const first = await post('again');
  assert.deepEqual([first.status, first.headers.get('idempotent-replayed')], [201, null]);
  const body = await first.text();
  assert.match(body, /"categoryId":9223372036854775807,/);
  const before = await service.countPets();
  let left = Number(first.headers.get('x-ratelimit-remaining'));
  for (let round = 0; round < 3; round += 1) {
    left -= 1;
    const replay = await post('again');
    assert.deepEqual([replay.status, replay.headers.get('idempotent-replayed')], [201, 'true']);
    assert.equal(await replay.text(), body);
    for (const name of ['location', 'content-type', 'content-length'])
      assert.equal(replay.headers.get(name), first.headers.get(name), name);
    assert.equal(replay.headers.get('x-ratelimit-remaining'), String(left));
  }
  assert.equal(await service.countPets(), before);
});

test('the same Idempotency-Key with another body gets 422 and adds nothing', async () => {
  const first = await post('reused');
  const before = await service.countPets();
  for (const body of [rex.replace('Rex', 'Bello'), `${rex} `, rex.replace('Rex', '\\u0052ex')])
    await expectError(await post('reused', body), 422, 'idempotency_key_reused');
  assert.equal(await service.countPets(), before);
  assert.equal(await (await post('reused')).text(), await first.text());
});

test('the same Idempotency-Key gets 409 only while the first request runs', async () => {
  const before = await service.countPets();
  const file = service.openFile();
  file.exec('begin immediate');
  const both = [post('in-use'), post('in-use')];
  await expectError(await Promise.race(both), 409, 'idempotency_key_in_use');
  file.exec('rollback');
  const statuses = (await Promise.all(both)).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [201, 409]);
  assert.equal((await post('in-use')).headers.get('idempotent-replayed'), 'true');
  assert.equal(await service.countPets(), before + 1);
});

test('only the API keys of one account share their Idempotency-Keys', async () => {
  const one = await service.createKey('pro', undefined, { account: 'pair' });
  const two = await service.createKey('pro', undefined, { account: 'pair' });
  await post('of-account', rex, one);
  assert.equal((await post('of-account', rex, two)).headers.get('idempotent-replayed'), 'true');
  const other = await post('of-account');
  assert.deepEqual([other.status, other.headers.get('idempotent-replayed')], [201, null]);
});

test('an Idempotency-Key of 1 to 255 visible ASCII characters is accepted as a key of its own', async () => {
  const visible = String.fromCharCode(...Array.from({ length: 94 }, (_, n) => 33 + n));
  for (const text of ['!', 'k', 'K', 'k%', '~'.repeat(255), visible]) {
    const first = await post(text);
    assert.deepEqual([first.status, first.headers.get('idempotent-replayed')], [201, null]);
    assert.equal((await post(text)).headers.get('idempotent-replayed'), 'true');
  }
});

test('an Idempotency-Key of another length or with other characters gets 400 and adds nothing', async () => {
  const before = await service.countPets();
  for (const text of ['', '~'.repeat(256), 'a b', 'a\tb', 'sch\xf6n']) {
    const message = await expectError(await post(text), 400, 'invalid_parameter');
    assert.match(message, /^Idempotency-Key /);
  }
  assert.equal(await service.countPets(), before);
});

test('a request with two Idempotency-Key headers gets 400', async (t) => {
  const twice = 'Idempotency-Key: one\r\nIdempotency-Key: two\r\nConnection: close\r\n';
  const text = `${formatHeads(key).post}${twice}Content-Length: ${rex.length}\r\n\r\n${rex}`;
  await expectError(await exchangeOne(t, service.baseUrl, text), 400, 'invalid_parameter');
});

test('GET and HEAD ignore Idempotency-Key', async () => {
  for (const method of ['GET', 'HEAD'])
    for (const text of ['again', 'not valid at all']) {
      const response = await service.send(key, `${method} /pets/1`, undefined, { 'idempotency-key': text });
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('idempotent-replayed'), null);
    }
});
