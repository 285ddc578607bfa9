import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { operations } from '../../client/src/generated.ts';
import { AnimalStore } from '../../client/src/index.ts';
import { enterFolder, startExampleService } from '../docs/example-service.ts';
import { findBlocks, readDocument, readTable } from '../docs/markdown.ts';
import { untilRendered } from '../support/documentation.ts';
import { makeFolder } from '../support/service.ts';

const document = await readDocument('client/README.md');
const blocks = findBlocks(document);

/** Starts the receiver, sends it a forged event and a genuine one, and prints what it answers and prints. */
const sendToReceiver = `cat >send.mjs <<'EOF'
import { signWebhook } from '@animal-store/client';
const [port] = process.argv.slice(2);
const body = JSON.stringify({ id: 'evt_7', type: 'pet.added' });
const headers = await signWebhook(body, process.env.WEBHOOK_SECRET, { id: 'evt_7' });
for (const [name, sent] of [['forged', { ...headers, 'webhook-id': 'evt_8' }], ['signed', headers]]) {
  const { status } = await fetch('http://127.0.0.1:' + port, { method: 'POST', headers: sent, body });
  console.log(name, status);
}
EOF
export WEBHOOK_SECRET='whsec_${Buffer.alloc(32, 1).toString('base64')}'
PORT=0 node receiver.cjs >received & receiver=$!
trap 'kill $receiver' EXIT
while [ ! -s received ] && kill -0 $receiver; do sleep 0.1; done
node send.mjs "$(sed 's/listening on //' received)"
tail -n +2 received`;

test('the examples of client/README.md run as written and print the shown output', async (t) => {
  const service = await startExampleService(t);
  await untilRendered(service.adapt('http://127.0.0.1:8080'));
  const folder = await makeFolder(t);
  const commands = [{ name: 'an empty folder', code: enterFolder(folder) }];
  for (const { info, code, line } of blocks) {
    const [, file] = /^js (.+)$/.exec(info) ?? [];
    const name = `client/README.md:${line}`;
    if (file !== undefined) {
      await writeFile(join(folder, file), code);
      commands.push({ name, code: `cp '${folder}/${file}' ${file}` });
    } else if (info === 'sh') commands.push({ name, code: service.adapt(code) });
  }
  const printed = await service.run([...commands, { name: 'receiver.cjs', code: sendToReceiver }]);
  assert.equal(commands.length, 6);
  assert.ok(printed.includes(blocks.find(({ info }) => info === 'text')?.code ?? ''), printed.join('\n'));
  assert.equal(printed.at(-1), 'forged 401\nsigned 204\nevt_7 pet.added\n');
});

test('client/README.md has only blocks that a test runs or checks', () => {
  const kinds = blocks.map(({ info }) => info);
  const receiver = ['js receiver.cjs', 'text'];
  assert.deepEqual(kinds, ['sh', 'sh', 'js first.mjs', 'sh', 'text', ...receiver, 'text']);
});

test('client/README.md lists exactly the options and the codes of the client', async () => {
  const settings = await readDocument('client/src/settings.ts');
  const [, options = ''] = /interface AnimalStoreOptions \{(.*?)\n\}/s.exec(settings) ?? [];
  const names = [...options.matchAll(/readonly (\w+)\??:/g)].map(([, name]) => `\`${name}\``);
  const listed = readTable(document, 'Options').map(([name = '']) => name);
  assert.deepEqual(listed.toSorted(), names.toSorted());

  const errors = await readDocument('client/src/errors.ts');
  const [, union = ''] = /type ClientErrorCode =(.*?);\n/s.exec(errors) ?? [];
  const codes = [...union.matchAll(/\| '(\w+)'/g)].map(([, code]) => `\`${code}\``);
  const listedCodes = readTable(document, 'Errors').map(([code]) => code);
  assert.deepEqual(listedCodes, codes);
});

test('client/README.md lists every method of the client', () => {
  const calls = readTable(document, 'Operations').map(([call = '']) => call);
  const client = new AnimalStore({ apiKey: 'as_dev_x', baseUrl: 'http://127.0.0.1/v1' });
  for (const [room, methods] of Object.entries(client)) {
    if (typeof methods === 'function') {
      assert.ok(
        calls.some((call) => call.includes(`client.${room}(`)),
        room,
      );
      continue;
    }
    const own = calls.filter((call) => call.includes(`client.${room}.`)).join();
    for (const method of Object.keys(methods)) assert.match(own, new RegExp(`[.\`]${method}\\(`), room);
  }
});

test('client/README.md lists every query parameter of a list', () => {
  const calls = readTable(document, 'Operations').map(([call = '']) => call);
  for (const [name, { query }] of Object.entries(operations)) {
    const [, room = ''] = /^list([A-Z]\w*)$/.exec(name) ?? [];
    const call = calls.find((one) => one.startsWith(`\`client.${room.toLowerCase()}.list({`));
    if (call === undefined) continue;
    for (const parameter of Object.keys(query)) assert.match(call, new RegExp(`\\b${parameter}\\b`), name);
  }
});
