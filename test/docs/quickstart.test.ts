import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toText } from '../../src/http/docs-site/markup.ts';
import { enterFolder } from '../client/packed-client.ts';
import { makeFolder } from '../support/service.ts';
import { startExampleService } from './example-service.ts';

/** Returns the code blocks of a page in order, as a reader copies them. */
async function readBlocks(address: string) {
  const html = await (await fetch(address)).text();
  const blocks = html.matchAll(/data-language="(\w*)"><code>(.*?)<\/code>/gs);
  return Array.from(blocks, ([, language = '', code = '']) => ({ language, code: toText(code) }));
}

test('the quickstart works if a partner copies its blocks from the page, and prints the shown output', async (t) => {
  const service = await startExampleService(t);
  const blocks = await readBlocks(service.adapt('http://127.0.0.1:8080/docs/getting-started'));
  const commands = blocks.filter(({ language }) => language === 'sh');
  assert.equal(commands.length, 5);
  const printed = await service.run([
    { name: 'an empty folder', code: enterFolder(await makeFolder(t)) },
    // A partner replaces only the key.
    ...commands.map(({ code }, index) => ({
      name: `block ${index + 1}`,
      code: code.replace('as_dev_…', service.key),
    })),
  ]);
  let shown = 0;
  for (const [index, { language, code }] of blocks.entries()) {
    const before = blocks[index - 1];
    if (language === 'sh' || before === undefined) continue;
    const output = printed[commands.indexOf(before) + 1] ?? '';
    if (language === 'json') assert.deepEqual(JSON.parse(output), JSON.parse(code));
    else assert.equal(output.trim(), code.trim());
    shown += 1;
  }
  assert.equal(shown, 3);
});
