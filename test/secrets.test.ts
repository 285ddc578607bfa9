import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { visibleStart } from '../src/accounts/api-key.ts';
import { hourMs, minuteMs } from '../src/clock.ts';
import { redactKeys } from '../src/observability/safe-text.ts';
import { makePlan, order } from './accounts/world.ts';
import { runInProcess } from './support/command-line.ts';
import { startService, type TestService } from './support/service.ts';

const fragmentLength = 8;

/** Asserts that a text contains no part of a key beyond its visible start. */
function assertAbsent(key: string, place: string, told: string): void {
  const secret = key.slice(visibleStart(key).length);
  for (let index = 0; index + fragmentLength <= secret.length; index += 1) {
    const fragment = secret.slice(index, index + fragmentLength);
    assert.ok(!told.includes(fragment), `a part of a key stands in ${place}`);
  }
}

/** Percent-encodes every character of an ASCII text. */
const encodeAll = (text: string) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&');

function spoil(key: string): string {
  return key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
}

/** Sends a key in every place in which a client might put it, correctly or by mistake. Returns all answers. */
async function sendEverywhere({ app, request }: TestService, key: string): Promise<string> {
  const encoded = key.replaceAll('_', '%5F');
  const authorization = `Authorization: Bearer ${key}`;
  const requests = [
    request(key, '/pets'),
    request(key, '/pets/1'),
    request(key, '/nowhere'),
    request(key, `/pets/${key}`),
    request(key, `/${key}?${key}`),
    request(null, `/pets/${encoded}?key=${encoded}`),
    request(null, `/pets/${encodeAll(key)}`),
    request(null, `/pets/%61${key.slice(1)}`),
    ...['api_key', 'limit', 'status', 'cursor'].flatMap((name) => [
      request(key, `/pets?${name}=${key}`, { headers: { prefer: 'handling=strict' } }),
      request(null, `/pets?${name}=${key}`),
    ]),
    ...['Basic', 'Token', 'Bearer:', 'Bearer x', ''].map((scheme) =>
      request(null, '/pets', { headers: { authorization: `${scheme} ${key}` } }),
    ),
    request(key, '/pets', { headers: { 'x-forwarded-for': key } }),
    request(null, '/pets', { headers: { 'x-api-key': key, cookie: `key=${key}`, 'if-none-match': key } }),
    ...['application/json', key.replaceAll('_', '/')].map((type) =>
      request(key, '/pets', { method: 'POST', body: key, headers: { 'content-type': type } }),
    ),
    request(key, '/pets', { method: 'DELETE' }),
    sendRaw(app.url, `GET /v1/pets/${key} HTTP/1.1\r\n${authorization}\r\n${key}\r\n\r\n`),
    sendRaw(
      app.url,
      `GET /v1/%zz${key} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${authorization}\r\n\r\n`,
    ),
  ];
  const answers = await Promise.all(requests);
  const texts = answers.map(async (answer) =>
    typeof answer === 'string' ? answer : JSON.stringify([...answer.headers]) + (await answer.text()),
  );
  return (await Promise.all(texts)).join('\n');
}

async function sendRaw(url: string, message: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(message);
  return await text(socket);
}

/** Creates a runner of commands on the store of a service. It records their output without the issued keys. */
function createOperator({ config, clock }: TestService) {
  const printed: string[] = [];

  async function run(args: string): Promise<string> {
    const { stdout, stderr } = await runInProcess(args, config.databaseUrl, { clock: clock.now });
    printed.push(stderr);
    return stdout;
  }

  return {
    readPrinted: () => printed.join('\n'),
    issue: async (args: string): Promise<{ id: string; key: string }> =>
      JSON.parse(await run(`${args} --json`)),
    async print(args: string): Promise<void> {
      printed.push(await run(args), await run(`${args} --json`));
    },
  };
}

async function readFiles(folder: string): Promise<(readonly [name: string, content: string])[]> {
  const read = async (name: string) => [name, await readFile(join(folder, name), 'latin1')] as const;
  return Promise.all((await readdir(folder)).map(read));
}

/** Issues keys by command and in the process, then uses, lists, rotates, revokes and expires them. */
async function liveThrough(t: TestContext) {
  const settings = { LOG_REQUESTS: 'all', CORS_ORIGINS: 'https://app.example.com', TRUST_PROXY: '1' };
  const service = await startService(t, settings);
  const operator = createOperator(service);
  const folder = dirname(service.config.databaseUrl.slice('sqlite:'.length));
  const answers: string[] = [];
  const send = async (keys: readonly { key: string }[]) => {
    for (const key of keys.flatMap(({ key }) => [key, spoil(key)])) {
      // Requests without a valid key have a limit of 60 a minute by address.
      service.clock.advance(minuteMs);
      answers.push(await sendEverywhere(service, key));
    }
  };

  const plan = makePlan('enterprise', 1_000_000, 1_000_000);
  const numbers = '--per-minute 1000000 --per-day 1000000';
  const lasting = await operator.issue(`keys create --plan enterprise ${numbers}`);
  const passing = await service.store.keyring.issue(order({ plan, account: 'Zoo', lifetimeMs: hourMs }));
  const narrow = await operator.issue('keys create --account Zoo --scopes pets:read');
  const poor = await service.store.keyring.issue(order());
  await send([lasting, passing, narrow, poor]);

  const successor = await operator.issue(`keys rotate ${lasting.id} --overlap 0s`);
  const other = await service.store.keyring.rotate(passing.id, 60_000);
  const animals = join(folder, 'animals.csv');
  await writeFile(animals, 'name,categoryId\nRex,1\nbad,row\n');
  for (const args of [
    `keys rotate ${lasting.id}`,
    `keys revoke ${narrow.id}`,
    `keys revoke ${poor.key}`,
    'accounts set-plan Zoo --plan business',
    `import ${animals}`,
    `import ${animals} --skip-invalid`,
    'export',
    `export --output ${join(folder, 'all.ndjson')} --force`,
  ])
    await operator.print(args);
  service.clock.advance(hourMs);
  const keys = [lasting, passing, narrow, poor, successor, other];
  await send(keys);
  await operator.print('keys list');
  await operator.print('accounts list');
  return { service, folder, keys, answers: answers.join('\n'), printed: operator.readPrinted() };
}

test('no answer, log, output or file contains a key or a part of one', async (t) => {
  const { service, folder, keys, answers, printed } = await liveThrough(t);
  const running = await readFiles(folder);
  await service.stop();
  const stopped = await readFiles(folder);

  const names = running.map(([name]) => name);
  for (const name of ['animal-store.db', 'animal-store.db-wal', 'animal-store.db-shm', 'all.ndjson'])
    assert.ok(names.includes(name), name);
  for (const code of ['missing', 'invalid', 'expired', 'revoked'])
    assert.ok(answers.includes(`api_key_${code}`), code);
  assert.ok(answers.includes('not_found'));
  assert.match(service.readLog(), /as_stg_\[redacted\]/);
  for (const { key } of keys) assert.ok(printed.includes(visibleStart(key)));

  const places = [
    ['an answer', answers],
    ['the log', service.readLog()],
    ['an output', printed],
  ] as const;
  for (const { key } of keys)
    for (const [place, told] of [...places, ...running, ...stopped]) assertAbsent(key, place, told);
});

test('a key is redacted but for its environment, also if its characters are percent-encoded repeatedly', () => {
  for (const environment of ['dev', 'stg', 'live']) {
    const key = `as_${environment}_${'a1B2'.repeat(7)}`;
    for (const spelling of [`x${key}`, key.toUpperCase(), `${key}${key}`])
      assert.doesNotMatch(redactKeys(spelling), /a1B2/i);
    assert.equal(redactKeys(`<${key}>`), `<as_${environment}_[redacted]>`);
  }
  const encodeAgain = (text: string) => text.replaceAll('%', '%25');
  const key = `as_stg_${'a1B2'.repeat(7)}`;
  for (const spelling of [
    `%2561${key.slice(1)}`,
    key.replaceAll('_', '%5f'),
    key.replaceAll('_', '%255F'),
    key.replace('stg', 's%252574g'),
    encodeAll(key),
    encodeAgain(encodeAgain(encodeAll(key))),
    encodeAll(key.toUpperCase()),
  ])
    assert.equal(redactKeys(`/v1/pets/${spelling}/x`), '/v1/pets/as_stg_[redacted]/x', spelling);
});

test('redaction leaves the visible start of a key', () => {
  assert.equal(redactKeys('as_live_a1B2'), 'as_live_a1B2');
});

test('redaction takes linear time for any text', () => {
  for (const piece of ['%25', '%', 'as_live_', 'as_%', '%2561', '25'])
    assert.ok(redactKeys(piece.repeat(20_000)).length > 0);
});
