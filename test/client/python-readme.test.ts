import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { enterFolder, startExampleService } from '../docs/example-service.ts';
import { findBlocks, readDocument, readTable } from '../docs/markdown.ts';
import { whyNoPython } from '../support/python.ts';
import { makeFolder } from '../support/service.ts';

const document = await readDocument('client-python/README.md');
const blocks = findBlocks(document);
const name = (line: number) => `client-python/README.md:${line}`;

test('the examples of client-python/README.md run as written and print the shown output', {
  skip: await whyNoPython(),
}, async (t) => {
  const service = await startExampleService(t);
  const folder = await makeFolder(t);
  const commands = [{ name: 'an empty folder', code: `${enterFolder(folder)}\nexport PIP_NO_INDEX=1` }];
  const programs: string[] = [];
  for (const { info, code, line } of blocks) {
    const [, file] = /^python (.+)$/.exec(info) ?? [];
    if (file !== undefined) {
      await writeFile(join(folder, file), service.adapt(code));
      commands.push({ name: name(line), code: `cp '${folder}/${file}' .` });
      programs.push(file);
    } else if (info === 'sh') commands.push({ name: name(line), code: service.adapt(code) });
  }
  assert.deepEqual(programs, ['first.py', 'mirror.py', 'order.py', 'receiver.py']);
  // A mirror runs until it is ended. It has copied the animals once it prints an event.
  const renamed =
    'import time, animal_store as a; a.AnimalStore().pets.update(1, {"name": str(time.time_ns())})';
  const mirror = `python mirror.py >events & mirror=$!
while [ ! -s events ] && kill -0 $mirror; do python -c '${renamed}'; done
kill $mirror
python -c "import sqlite3; print(sqlite3.connect('copy.db').execute('select count(*) from pets').fetchone())"`;
  const printed = await service.run([
    ...commands,
    { name: 'mirror.py', code: mirror },
    { name: 'order.py', code: 'python order.py' },
    { name: 'receiver.py', code: 'python receiver.py 2>/dev/null' },
  ]);
  const [copied, ordered, received] = printed.slice(-3);
  const shown = blocks.find(({ info }) => info === 'text')?.code;
  assert.ok(printed.includes(shown ?? ''), printed.join('\n'));
  assert.equal(copied, '(3,)\n');
  assert.equal(ordered, 'completed\n');
  assert.equal(received, 'webhook.ping\n');
});

test('client-python/README.md has only blocks that a test runs or checks', () => {
  const kinds = new Set(blocks.map(({ info }) => info.replace(/ .*/, '')));
  assert.deepEqual([...kinds].sort(), ['python', 'sh', 'text']);
});

test('client-python/README.md lists exactly the options and the codes of the client', async () => {
  const client = await readDocument('client-python/animal_store/client.py');
  const [, options = ''] = /def __init__\(\n {8}self,\n {8}\*,\n(.*?)\n {4}\) -> None:/s.exec(client) ?? [];
  const names = Array.from(options.matchAll(/^ +(\w+):/gm), ([, option]) => `\`${option}\``);
  assert.deepEqual(
    readTable(document, 'Options').map(([option]) => option),
    names,
  );
  const errors = await readDocument('client-python/animal_store/errors.py');
  const [, union = ''] = /^ClientErrorCode: TypeAlias = Literal\[(.*?)\]/ms.exec(errors) ?? [];
  const codes = Array.from(union.matchAll(/"(\w+)"/g), ([, code]) => `\`${code}\``);
  assert.deepEqual(
    readTable(document, 'Errors').map(([code]) => code),
    codes,
  );
});

test('client-python/README.md lists every method with its optional arguments', async () => {
  const calls = readTable(document, 'Operations').map(([call = '']) => call);
  for (const room of ['pets', 'categories', 'orders', 'events', 'requests', 'keys', 'webhooks']) {
    const source = await readDocument(`client-python/animal_store/${room}.py`);
    const own = calls.filter((call) => call.includes(`client.${room}.`)).join();
    for (const [, method, given = ''] of source.matchAll(/^ {4}def ([a-z]\w*)\((.*?)\) ->/gms)) {
      const [, shown] =
        new RegExp(`[.\`]${method}\\(([^)]*)\\)`).exec(own) ?? assert.fail(`${room}.${method}`);
      if (shown?.includes('…')) continue;
      const [, optional = ''] = given.split('*,');
      for (const [, argument = ''] of optional.matchAll(/(\w+):/g))
        assert.match(shown ?? '', new RegExp(`\\b${argument}\\b`), `${room}.${method}`);
    }
  }
});
