import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { startExampleService } from '../docs/example-service.ts';
import { findBlocks, readDocument, readTable, root } from '../docs/markdown.ts';
import { makeFolder } from '../support/service.ts';
import { copySources, offline } from './packed-client.ts';

const document = await readDocument('client/README.md');
const blocks = findBlocks(document);

/**
 * Goes to where nothing is installed and no program of the project is found, until `npm ci` has been said; that puts
 * the project's own packages there, without asking a registry.
 */
function enterClone(clone: string): string {
  const others = (process.env['PATH'] ?? '').split(':').filter((path) => !path.endsWith('node_modules/.bin'));
  const exported = { ...offline, PATH: [dirname(process.execPath), ...others].join(':') };
  return [
    ...Object.entries(exported).map(([name, value]) => `export ${name}='${value}'`),
    `npm() { if [ "$*" = ci ]; then ln -s '${join(root, 'node_modules')}' node_modules; else command npm "$@"; fi; }`,
    `cd '${clone}'`,
  ].join('\n');
}

test('the five minutes of client/README.md run as they are written, and print what they show', async (t) => {
  const service = await startExampleService(t);
  const clone = await makeFolder(t);
  await copySources(clone);
  const commands = [{ name: 'a fresh clone', code: enterClone(clone) }];
  for (const { info, code, line } of blocks) {
    const [, file] = /^js (.+)$/.exec(info) ?? [];
    const name = `client/README.md:${line}`;
    if (file !== undefined) {
      await writeFile(join(clone, file), code);
      commands.push({ name, code: `cp ${clone}/${file} ${file}` });
    } else if (info === 'sh') commands.push({ name, code: service.adapt(code) });
  }
  const printed = await service.run(commands);
  assert.equal(commands.length, 5);
  assert.equal(printed.at(-1), blocks.find(({ info }) => info === 'text')?.code);
});

test('client/README.md has no block of a kind that is not run or shown by a test', () => {
  assert.deepEqual(
    blocks.map(({ info }) => info),
    ['sh', 'sh', 'js first.mjs', 'sh', 'text'],
  );
});

test('client/README.md lists every option, and the codes of the client, and no other', async () => {
  const settings = await readFile(join(import.meta.dirname, '../../client/src/settings.ts'), 'utf8');
  const [, options = ''] = /interface AnimalStoreOptions \{(.*?)\n\}/s.exec(settings) ?? [];
  const names = [...options.matchAll(/readonly (\w+)\??:/g)].map(([, name]) => `\`${name}\``);
  const listed = readTable(document, 'Options').map(([name = '']) => name);
  assert.deepEqual(listed.toSorted(), names.toSorted());

  const errors = await readFile(join(import.meta.dirname, '../../client/src/errors.ts'), 'utf8');
  const [, union = ''] = /type ClientErrorCode =(.*?);\n/s.exec(errors) ?? [];
  const codes = [...union.matchAll(/\| '(\w+)'/g)].map(([, code]) => `\`${code}\``);
  assert.deepEqual(
    readTable(document, 'Errors').map(([code]) => code),
    codes,
  );
});
