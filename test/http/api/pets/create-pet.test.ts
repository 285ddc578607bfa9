import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { expectError } from '../../../support/expect-error.ts';
import { formatHeads, openRaw } from '../../../support/raw-http.ts';
import { startWithKey } from '../../../support/service.ts';

const { service, key } = await startWithKey({ after });
const rex = { name: 'Rex', categoryId: 1 };
const rexText = JSON.stringify(rex);

let before = 0;
beforeEach(async () => {
  before = await service.countPets();
});

async function expectAdded(count: number): Promise<void> {
  assert.equal(await service.countPets(), before + count);
}

async function expectRefused(response: Response, status: 400 | 413 | 415): Promise<string> {
  const codes = { 400: 'invalid_body', 413: 'payload_too_large', 415: 'unsupported_media_type' } as const;
  const message = await expectError(response, status, codes[status]);
  await expectAdded(0);
  return message;
}

/** Adds an animal. Returns it as the answer to GET shows it. */
async function add(body: unknown): Promise<{ id: number; name: string; status: string }> {
  const added = await service.post(key, body);
  assert.equal(added.status, 201);
  const text = await added.text();
  const path = (added.headers.get('location') ?? '').slice('/v1'.length);
  assert.equal(await (await service.request(key, path)).text(), text);
  return JSON.parse(text);
}

test('POST /pets adds an animal and gets 201 with the Pet, whose id the service assigns', async () => {
  const response = await service.post(key, '{"status":"sold","categoryId":7,"name":"Rex","id":9876}');
  assert.equal(response.status, 201);
  assert.match(await response.text(), /^\{"id":\d{1,3},"name":"Rex","categoryId":7,"status":"sold"\}$/);
  await expectAdded(1);
});

test('every status is accepted', async () => {
  for (const status of ['available', 'pending', 'sold'])
    assert.equal((await add({ ...rex, status })).status, status);
});

test('an animal without a status is available', async () => {
  assert.equal((await add(rex)).status, 'available');
});

test('the ids of new animals are positive and grow', async () => {
  const ids = [0];
  for (let count = 0; count < 4; count += 1) ids.push((await add(rex)).id);
  for (const [place, id] of ids.slice(1).entries()) assert.ok(id > (ids[place] ?? 0));
});

const exactNames = '  Rex  |🐕‍🦺 Rex|Ame\u0301lie|"\\/<b>&amp;</b>|a\u2028b\u2029c|007'.split('|');
for (const name of [...exactNames, '😀'.repeat(255)])
  test(`the name ${JSON.stringify(name.slice(0, 20))} is returned exactly as sent`, async () =>
    assert.equal((await add({ name, categoryId: 1 })).name, name));

const takenBodies: Readonly<Record<string, string>> = {
  'undocumented fields': '{"name":"Rex","categoryId":1,"tag":{"a":[null]},"photoUrls":[]}',
  'an unknown field that is nested 127 levels deep': `{"name":"Rex","categoryId":1,"tag":${'['.repeat(127)}${']'.repeat(127)}}`,
  'a field named __proto__': '{"name":"Rex","categoryId":1,"__proto__":{"status":"sold"}}',
  'a field named constructor': '{"name":"Rex","categoryId":1,"constructor":{"prototype":{"status":"sold"}}}',
  'leading and trailing white space': ' \r\n\t{ "name" : "Rex" , "categoryId" : 1 } \n',
  'escape sequences in names and values': '{"\\u006eame":"R\\u0065x","categoryId":1}',
  'a repeated field, the last of which counts': '{"name":1,"name":"Rex","categoryId":1}',
};
for (const [what, body] of Object.entries(takenBodies))
  test(`a body with ${what} is accepted`, async () => {
    const { name, status } = await add(body);
    assert.deepEqual([name, status], ['Rex', 'available']);
  });

const badNames = [
  '',
  'R'.repeat(256),
  '😀'.repeat(256),
  ' \u00a0\u3000\u0085\ufeff',
  'R\u0000ex',
  'Rex\ud83d',
];
const noInt64 = '1.5 1e-1 1e400 -1e400 1.00000000000000000001 9223372036854775808 -9223372036854775809 1e19';
const badValues: Readonly<Record<string, readonly string[]>> = {
  name: ['null', '1', 'true', '["Rex"]', '{}', ...badNames.map((name) => JSON.stringify(name))],
  categoryId: ['null', '"1"', 'true', '[1]', '{"value":1}', ...noInt64.split(' ')],
  status: ['null', '""', '"Available"', '"lost"', '0', 'false', '["sold"]', '{}'],
};
for (const [field, values] of Object.entries(badValues))
  for (const json of values)
    test(`a body with the ${field} ${json.slice(0, 20)} gets a 400 that names the field`, async () => {
      const response = await service.post(key, `{"name":"Rex","categoryId":1,"${field}":${json}}`);
      assert.match(await expectRefused(response, 400), new RegExp(`^${field} must `));
    });

test('the message names all invalid fields', async () => {
  const message = await expectRefused(await service.post(key, { name: '', status: null }), 400);
  assert.match(message, /name must .*categoryId is required.*status must /);
});

const nested = '['.repeat(20_000) + ']'.repeat(20_000);
const badBodies: Readonly<Record<string, string | Buffer>> = {
  'broken JSON': '{"name":"Rex",',
  'JSON with a trailing comma': '{"name":"Rex","categoryId":1,}',
  'JSON with a comment': '{"name":"Rex","categoryId":1/**/}',
  'a number with a leading zero': '{"name":"Rex","categoryId":01}',
  'a number with a leading plus': '{"name":"Rex","categoryId":+1}',
  NaN: '{"name":"Rex","categoryId":NaN}',
  'text after the object': `${rexText}x`,
  'two objects': rexText + rexText,
  'a NUL byte': '{"name":"R\u0000ex","categoryId":1}',
  'only white space': ' \n',
  null: 'null',
  'a string': '"Rex"',
  'a number': '1',
  true: 'true',
  'fields only in the prototype': `{"__proto__":${rexText}}`,
  'an object nested one level too deep': `{"name":"Rex","categoryId":1,"tag":${'['.repeat(128)}${']'.repeat(128)}}`,
  '20,000 nested arrays': nested,
  '20,000 nested arrays in a field that is ignored': `{"name":"Rex","categoryId":1,"tag":${nested}}`,
  '10,000 nested objects': `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
  'a byte order mark': Buffer.from(`\ufeff${rexText}`),
  'a byte that is invalid in UTF-8': Buffer.from('{"name":"R\xffx","categoryId":1}', 'latin1'),
  'an overlong form in UTF-8': Buffer.from('{"name":"R\xc0\x80x","categoryId":1}', 'latin1'),
  'a surrogate in UTF-8': Buffer.from('{"name":"R\xed\xa0\x80x","categoryId":1}', 'latin1'),
  'UTF-16': Buffer.from(rexText, 'utf16le'),
};
for (const [what, body] of Object.entries(badBodies))
  test(`a body of ${what} gets 400`, async () => {
    const headers = { 'content-type': 'application/json' };
    await expectRefused(await service.request(key, '/pets', { method: 'POST', headers, body }), 400);
  });

const takenTypes =
  'application/json|application/json;charset=utf-8|Application/JSON; Charset="UTF-8"|application/json; charset=us-ascii|application/json; profile=x';
for (const type of takenTypes.split('|'))
  test(`a body with the content type ${type} is accepted`, async () =>
    assert.equal((await service.post(key, rex, { 'content-type': type })).status, 201));

const badTypes =
  'text/plain|application/problem+json|application/jsonp|application/x-www-form-urlencoded|multipart/form-data; boundary=x|application/json; charset=latin1|application/json; charset=utf-16|application/json, application/json|json|*/*';
for (const type of badTypes.split('|'))
  test(`a body with the content type ${type} gets 415`, async () => {
    await expectRefused(await service.post(key, rex, { 'content-type': type }), 415);
  });

test('a body without a content type or with a content encoding gets 415', async () => {
  const encoded = ['gzip', 'br', 'deflate', 'gzip, identity'].map((encoding) => ({
    headers: { 'content-type': 'application/json', 'content-encoding': encoding },
    body: gzipSync(rexText),
  }));
  for (const init of [{ body: Buffer.from(rexText) }, ...encoded])
    await expectRefused(await service.request(key, '/pets', { method: 'POST', ...init }), 415);
});

test('a body of exactly 65536 bytes and the content encoding identity are accepted', async () => {
  const body = rexText.padEnd(65536, ' ');
  assert.equal((await service.post(key, body, { 'content-encoding': 'identity' })).status, 201);
});

const { post } = formatHeads(key);

test('a request with a content type but without a body and a length is answered', async (t) => {
  const connection = await openRaw(t, service.baseUrl);
  for (const [line, status] of [
    ['POST /v1/pets', 400],
    ['POST /v1/nothing', 404],
    ['PUT /v1/pets', 405],
    ['PUT /v1/pets/1', 405],
    ['GET /v1/pets', 200],
  ] as const) {
    connection.send(`${post.replace('POST /v1/pets', line)}\r\n`);
    assert.equal((await connection.read()).status, status, line);
  }
});

test('a body that arrives after its head or byte by byte adds one animal', async (t) => {
  const head = `${post}Content-Length: ${rexText.length}\r\n\r\n`;
  const connection = await openRaw(t, service.baseUrl);
  for (const parts of [[head + rexText], [head, rexText], [...head, ...rexText]]) {
    for (const part of parts) connection.send(part);
    assert.equal((await connection.read()).status, 201);
  }
  await expectAdded(3);
});

test('a client can read the 413 to a chunked body of 3 MB while it is still sending', async () => {
  async function* parts() {
    for (let part = 0; part < 46; part += 1) {
      yield new Uint8Array(65_536);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  for (let round = 0; round < 10; round += 1) {
    const body = ReadableStream.from(parts());
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body, duplex: 'half' } as const;
    await expectRefused(await service.request(key, '/pets', init), 413);
  }
});

test('a refused body leaves the connection open for the next request', async () => {
  const response = await service.post(key, '{"name":');
  assert.equal(response.headers.get('connection'), 'keep-alive');
  await expectRefused(response, 400);
});
