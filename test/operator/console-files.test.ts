import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startConsole } from './console-browser.ts';

const root = join(import.meta.dirname, '../..');
const { consoleUrl } = await startConsole({ after });

/** Fetches the script that the console begins with, and every script that a script imports. */
async function fetchScripts(): Promise<ReadonlyMap<string, Response>> {
  const shell = await (await fetch(consoleUrl)).text();
  const [, main = ''] = /<script type="module" src="([^"]+)">/.exec(shell) ?? [];
  const found = new Map<string, Response>();
  const waiting = [new URL(main, consoleUrl)];
  for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
    if (found.has(url.href)) continue;
    const answer = await fetch(url);
    found.set(url.href, answer);
    const imports = (await answer.clone().text()).matchAll(/\bfrom\s*["'](\.\/[\w.-]+)["']/g);
    for (const [, address = ''] of imports) waiting.push(new URL(address, url));
  }
  return found;
}

const scripts = await fetchScripts();
/** The pages, without the libraries. */
const pages = await Promise.all(
  Array.from(scripts)
    .filter(([address]) => address.endsWith('.ts'))
    .map(async ([address, answer]) => ({ name: address.replace(/^.*\//, ''), text: await answer.text() })),
);

test('every script that a page imports is served as JavaScript', () => {
  assert.ok(pages.length > 20);
  for (const [address, { status, headers }] of scripts)
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/javascript; charset=utf-8'], address);
});

test('a page is served without its types', () => {
  const types =
    /^import type|^(?:export )?(?:interface|type) \w|\w\??: (?:string|number|boolean|readonly)\b|useState</m;
  for (const { name, text } of pages) assert.doesNotMatch(text, types, name);
});

test('a statement of a page is served on the line that it has in its file', async () => {
  for (const { name, text } of pages) {
    const source = await readFile(join(root, 'src/operator/console/pages', name), 'utf8');
    const lines = (code: string) =>
      code.split('\n').map((line) => /^export (?:async )?function \w+/.exec(line)?.[0]);
    assert.deepEqual(lines(text), lines(source), name);
  }
});

test('npm run types checks each folder that tsconfig.json leaves out', async () => {
  const { exclude } = JSON.parse(await readFile(join(root, 'tsconfig.json'), 'utf8'));
  const { scripts: commands } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const checked = commands.types.split(' && ');
  assert.deepEqual(
    exclude.map((folder: string) => `tsc -p ${folder}`),
    checked.filter((command: string) => command.startsWith('tsc -p src/')),
  );
});
