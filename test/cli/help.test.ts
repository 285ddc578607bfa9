import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runInProcess } from './run-command-line.ts';

const commands = [
  [],
  ['serve'],
  ['keys'],
  ['keys', 'create'],
  ['keys', 'list'],
  ['keys', 'rotate'],
  ['keys', 'revoke'],
  ['accounts'],
  ['accounts', 'list'],
  ['accounts', 'set-plan'],
  ['import'],
  ['export'],
  ['migrate'],
];
const unopened = 'sqlite:/nowhere/store.db';

describe('help', () => {
  for (const command of commands)
    test(`of "${['animal-store', ...command].join(' ')}" goes to standard output, without colours, with exit code 0`, async () => {
      const { code, stdout, stderr } = await runInProcess([...command, '--help'], unopened);
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, new RegExp(`^Usage: ${['animal-store', ...command].join(' ')} \\[options\\]`));
      assert.ok(!stdout.includes('\x1b'));
    });

  for (const command of [[], ['keys'], ['accounts']])
    test(`is what "${['animal-store', ...command].join(' ')}" alone gives, as a mistake`, async () => {
      const { code, stdout, stderr } = await runInProcess(command, unopened);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /^Usage: animal-store/);
    });

  test('has examples that are all command lines of this program', async () => {
    const texts = await Promise.all(
      commands.map(async (command) => (await runInProcess([...command, '--help'], unopened)).stdout),
    );
    const examples = texts.flatMap((text) => [
      ...text.matchAll(/^ {2}(?:[A-Z_]+=\S+ )*animal-store (.+)$/gm),
    ]);
    assert.ok(examples.length > 10);
    for (const [, args = ''] of examples) {
      const words = args.replace(/ [<>] .*/, '').match(/"[^"]*"|\S+/g) ?? [];
      const { stderr } = await runInProcess(
        [...words.map((word) => word.replaceAll('"', '')), '--help'],
        unopened,
      );
      assert.equal(stderr, '', args);
    }
  });
});

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'));
  const { code, stdout } = await runInProcess(['--version'], unopened);
  assert.deepEqual([code, stdout], [0, `${version}\n`]);
});
