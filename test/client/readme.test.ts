import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { enterFolder, startExampleService } from '../docs/example-service.ts';
import { findBlocks, readDocument, readTable } from '../docs/markdown.ts';
import { untilRendered } from '../support/documentation.ts';
import { makeFolder } from '../support/service.ts';

const document = await readDocument('client/README.md');
const blocks = findBlocks(document);

test('the five-minute example of client/README.md runs as written and prints the shown output', async (t) => {
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
  const printed = await service.run(commands);
  assert.equal(commands.length, 5);
  assert.equal(printed.at(-1), blocks.find(({ info }) => info === 'text')?.code);
});

test('client/README.md has only blocks that a test runs or checks', () => {
  const kinds = blocks.map(({ info }) => info);
  assert.deepEqual(kinds, ['sh', 'sh', 'js first.mjs', 'sh', 'text', 'text']);
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
