import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { plainWords, readProse } from './prose.ts';

const root = join(import.meta.dirname, '../..');
const folders = ['src', 'client/src', 'bin', 'test', 'torture', 'bench', 'docs-check', 'mutation'];

/** A block comment, line comments that follow each other, a string or a template, whichever begins first. */
const tokens =
  /\/\*[\s\S]*?\*\/|(?<!:)\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
const commentMarks = /^\/\*\*?|\*\/$|^[ \t]*\/\/|^\s*\*(?!\*)/gm;
const docTag = /@\w+/g;
const joinedStrings = /(['"`]) \+\n\s*\1/g;
const insert = /\$\{[^}]*\}/g;
const lineBreak = /\s*(?:\n|\\[nr])\s*/;
const htmlTag = /<\/?[a-z][^>]*>/g;
const threeWords = /\S\s+\S+\s+\S/;

/**
 * The prose of a source file: comments, and strings and templates of three words or more. Each line of a string is a
 * paragraph, because many templates are SQL, a script or a page.
 */
function readTexts(code: string): string[] {
  return (code.replaceAll(joinedStrings, '').match(tokens) ?? []).flatMap((token) => {
    if (token.startsWith('/')) return token.replaceAll(commentMarks, '').replaceAll(docTag, '\n\n');
    if (!threeWords.test(token)) return [];
    const text = token.slice(1, -1);
    const isTemplate = token.startsWith('`');
    return (isTemplate ? text.replaceAll(insert, '`x`').replaceAll(htmlTag, '\n') : text).split(lineBreak);
  });
}

async function findBreaches(code: string): Promise<readonly string[]> {
  const { breaches } = await readProse(readTexts(code).join('\n\n'));
  return breaches.map((breach) => breach.replace(/^\d+: /, ''));
}

for (const folder of folders)
  test(`comments, messages and titles of ${folder} are in plain English`, async () => {
    const entries = await readdir(join(root, folder), { recursive: true });
    const files = entries.filter((file) => /\.[jt]s$/.test(file) && !/node_modules|dist|\.d\.ts$/.test(file));
    assert.ok(files.length > 0);
    const found: string[] = [];
    for (const file of files)
      for (const breach of await findBreaches(await readFile(join(root, folder, file), 'utf8')))
        found.push(`${file}: ${breach}`);
    assert.deepEqual(found, []);
  });

const [[word, plain] = ['', '']] = plainWords;
const hidden: readonly [place: string, code: string][] = [
  ['a doc comment', `/**\n * What the client\n * is ${word}.\n */`],
  ['a line comment', `const a = 1;\n// What the client is ${word}.\nconst b = 2;`],
  ['a message', `throw new Error('the client is ${word}');`],
  ['a message with an apostrophe', `throw new Error("the client's owner is ${word}");`],
  ['a message in a template', `throw new Error(\`the client \${id} is ${word}\`);`],
  ['a page', `html\`\n  <p class="note">the client is ${word}</p>\`;`],
  ['a title', `test('a client is ${word}', () => {});`],
];

for (const [place, code] of hidden)
  test(`the check finds a forbidden word in ${place}`, async () => {
    assert.deepEqual(await findBreaches(code), [`"${word}": write ${plain}`]);
    assert.deepEqual(await findBreaches(code.replace(word, 'shown')), []);
  });

test('the check finds a sentence of more than 30 words over several lines', async () => {
  const half = `A${' word'.repeat(15)}`;
  const found = [`32 words: "A${' word'.repeat(7)} …"`];
  assert.deepEqual(await findBreaches(`// ${half}\n// ${half}.`), found);
  assert.deepEqual(await findBreaches(`log('${half} ' +\n  '${half}.');`), found);
  assert.deepEqual(await findBreaches(`// ${half}.\n// ${half}.`), []);
});

test('the check ignores code outside comments, strings and templates', async () => {
  assert.deepEqual(await findBreaches(`const ${word} = ${word}(${word});`), []);
});
