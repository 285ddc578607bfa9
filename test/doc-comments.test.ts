import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSources } from './support/sources.ts';

/** The files whose exports other layers use: basic types, rules, interfaces, operations and storage. */
const lowerFloors =
  /^(?:(?:clock|config|errors|exact-json|int64|soon)\.ts|(?:accounts|limits|pets|plans|storage|doctor)\/.*\.ts)$/;

/** Returns the exports of a file that have no doc comment directly above them. */
function findBare(text: string): string[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const [, name] = /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/.exec(line) ?? [];
    return name === undefined || lines[index - 1]?.endsWith('*/') ? [] : [name];
  });
}

test('every export of the lower layers has a doc comment', async () => {
  const sources = (await readSources()).filter(({ file }) => lowerFloors.test(file));
  assert.ok(sources.length > 50);
  const found = sources.flatMap(({ file, text }) => findBare(text).map((name) => `${file}: ${name}`));
  assert.deepEqual(found, []);
});

test('the check finds an export without a doc comment', () => {
  assert.deepEqual(findBare('/** A. */\nexport const a = 1;\nexport function b() {}\n\nexport type C = 1;'), [
    'b',
    'C',
  ]);
});
