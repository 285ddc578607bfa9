import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { listHelp, runInProcess, splitWords, unopened } from '../support/command-line.ts';

const pages = await listHelp();

describe('help', () => {
  for (const command of ['', 'keys', 'accounts'])
    test(`is printed as a usage error by "animal-store ${command}" without a subcommand`, async () => {
      const { code, stdout, stderr } = await runInProcess(command, unopened);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /^Usage: animal-store/);
    });

  const topics = { 'help keys': ' keys', 'keys help create': ' keys create', 'help help': '' };
  for (const [args, command] of Object.entries(topics))
    test(`of "animal-store${command}" is printed by "animal-store ${args}"`, async () => {
      const { code, stdout, stderr } = await runInProcess(args, unopened);
      assert.deepEqual([code, stderr], [0, '']);
      assert.ok(stdout.startsWith(`Usage: animal-store${command} [options]`), stdout);
    });

  for (const { command, text } of pages)
    test(`of "${['animal-store', ...command].join(' ')}" has only valid command lines as examples`, async () => {
      const examples = [...text.matchAll(/^ {2}(?:[A-Z_]+=\S+ )*animal-store (.+)$/gm)];
      assert.ok(examples.some(([, args = '']) => args.startsWith(command.join(' '))));
      for (const [, args = ''] of examples) {
        const words = splitWords(args.replace(/ (?:[<>]|>>) .*/, ''));
        const { code, stderr } = await runInProcess([...words, '--help'], unopened);
        assert.deepEqual([code, stderr], [0, ''], args);
      }
    });

  test('begins with the usage of its command', () => {
    for (const { command, text } of pages)
      assert.match(text, new RegExp(`^Usage: ${['animal-store', ...command].join(' ')} \\[options\\]`));
  });

  test('has no colours', () => {
    for (const { command, text } of pages) assert.ok(!text.includes('\x1b'), command.join(' '));
  });

  test('fits 80 columns, except for the command lines of examples', () => {
    for (const { command, text } of pages)
      assert.doesNotMatch(text, /^(?! {2}.*animal-store ).{81}/m, command.join(' '));
  });

  test('of every executable command lists --json', () => {
    const inner = new Set(pages.map(({ command }) => command.slice(0, -1).join(' ')));
    for (const { command, text } of pages)
      if (!inner.has(command.join(' '))) assert.match(text, /^ {2}--json /m, command.join(' '));
  });

  test('of the program explains the exit codes and links to the page of the settings', async () => {
    const { stdout } = await runInProcess(['--help'], unopened);
    assert.match(stdout, /exit code is 0 .*, 1 .*, 2 .*docs\/settings\.md/s);
  });
});

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'));
  const { code, stdout } = await runInProcess(['--version'], unopened);
  assert.deepEqual([code, stdout], [0, `${version}\n`]);
});
