import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSources } from './support/sources.ts';

const linesMax = 60;

const control = /^\s*(?:\} )?(?:if|else|for|while|switch|try|catch|finally)\b/;
/** Matches the first line of a function, an arrow function or a method. The signature may continue on later lines. */
const start = /(?:\bfunction\b|=>|^\s*(?:(?:async|static|get|set) )*\*?#?\w+(?:<.*>)?\().*[{(]$/;

/** Returns the first lines of functions with more than `lines` lines. A function ends at a brace with its indentation. */
function findLong(text: string, lines: number): string[] {
  const all = text.split('\n');
  return all.filter((line, index) => {
    if (control.test(line) || !start.test(line)) return false;
    const [indent = ''] = /^\s*/.exec(line) ?? [];
    const isEnd = (other: string) => other.startsWith(`${indent}}`) && !other.endsWith('{');
    return all.slice(index + 1).findIndex(isEnd) + 2 > lines;
  });
}

test('no function in src is longer than 60 lines', async () => {
  const sources = await readSources();
  assert.ok(sources.length > 200);
  const found = sources.flatMap(({ file, text }) =>
    findLong(text, linesMax).map((line) => `${file}: ${line.trim()}`),
  );
  assert.deepEqual(found, []);
});

test('the check finds a function of any form that is too long', () => {
  const body = ['a();', 'b();', 'c();'];
  for (const [first, last] of [
    ['export async function act(one: string): Promise<void> {', '}'],
    ['export function act(\n  options: { one: string },\n): void {', '}'],
    ['  const act = (one: string) => {', '  };'],
    ['    async act({ one }) {', '    },'],
    ["server.on('close', () => {", '});'],
  ] as const) {
    const text = [first, ...body, last].join('\n');
    const { length } = text.split('\n');
    assert.deepEqual(findLong(text, length), []);
    assert.deepEqual(findLong(text, length - 1), [first.split('\n', 1)[0]]);
  }
  assert.deepEqual(findLong(`if (one) {\n${body.join('\n')}\n}`, 2), []);
});
