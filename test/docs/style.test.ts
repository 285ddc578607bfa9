import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listDocuments, readDocument } from './markdown.ts';
import { plainWords, readProse } from './prose.ts';

/** A page that a command writes, and the changelog, whose entries are not sentences. */
const otherTexts = new Set(['CHANGELOG.md', 'docs/operations/fault-runs.md']);
/** Maximum number of passive verbs for each sentence. */
const passivesMax = 0.2;

/** Reads a page without the tables that the benchmark writes. */
async function readPage(path: string): Promise<string> {
  return (await readDocument(path)).replaceAll(/<!-- bench (\w+) -->.*?<!-- end of bench \1 -->/gs, '');
}

const pages = (await listDocuments()).filter((path) => !otherTexts.has(path));

for (const path of pages)
  test(`${path} is in plain English`, async () => {
    const { sentences, passives, breaches } = await readProse(await readPage(path));
    assert.deepEqual(breaches, []);
    assert.ok(passives <= passivesMax * sentences, `${passives} passives in ${sentences} sentences`);
  });

test('the check finds a sentence that is too long or has a forbidden word', async () => {
  const long = `A cat ${'and a cat '.repeat(10)}sleep.`;
  const [word] = plainWords.keys();
  const { breaches } = await readProse(`${long}\n\nWhat is ${word} is said.`);
  assert.equal(breaches.length, 2);
});
