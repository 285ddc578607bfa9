import type { Root, Sentence } from 'nlcst';
import { toString as toText } from 'nlcst-to-string';
import { ParseEnglish } from 'parse-english';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import remarkRetext from 'remark-retext';
import retextPassive from 'retext-passive';
import { unified } from 'unified';
import { visit } from 'unist-util-visit';
import { VFile } from 'vfile';

/** The result of a style check. */
export interface Reading {
  readonly sentences: number;
  /** Number of verbs in the passive voice. */
  readonly passives: number;
  /** The line and the problem of each violation. */
  readonly breaches: readonly string[];
}

/** Maximum number of words in a sentence. Code in backticks counts as one word. */
const wordsMax = 30;

/** Forbidden words, each with words to use instead. */
export const plainWords: ReadonlyMap<string, string> = new Map([
  ['told', 'said, shown, reported'],
  ['tell', 'say, show, report'],
  ['tells', 'says, shows, reports'],
  ['bear', 'have, carry'],
  ['bears', 'has, carries'],
  ['borne', 'carried'],
  ['anew', 'again'],
  ['aloud', 'in the output'],
  ['midst', 'middle'],
  ['whereupon', 'then'],
  ['wherein', 'in which'],
  ['thereby', 'so'],
  ['utilize', 'use'],
  ['leverage', 'use'],
]);

const tableRow = /^\|.*\|$/gm;

/** Converts the cells of a row into paragraphs, because remark-retext ignores tables. */
function toParagraphs(row: string): string {
  return row
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .join('\n\n');
}

/** Checks headings, paragraphs, lists and tables of a Markdown text, but no code blocks. */
export async function readProse(markdown: string): Promise<Reading> {
  const file = new VFile(markdown.replaceAll(tableRow, toParagraphs));
  const reading = { sentences: 0, passives: 0, breaches: [] as string[] };
  const judge = () => (tree: Root) =>
    visit(tree, 'SentenceNode', (sentence) => judgeSentence(sentence, reading));
  const english = unified()
    .use(remarkParse)
    .use(remarkGfm)
    .use(remarkRetext, ParseEnglish)
    .use(retextPassive)
    .use(judge);
  await english.run(english.parse(file), file);
  return { ...reading, passives: file.messages.length };
}

function judgeSentence(sentence: Sentence, reading: { sentences: number; breaches: string[] }): void {
  const words: string[] = [];
  for (const node of sentence.children)
    if (node.type === 'WordNode' || node.type === 'SourceNode') words.push(toText(node));
  if (words.length === 0) return;
  reading.sentences += 1;
  const line = sentence.position?.start.line ?? 0;
  if (words.length > wordsMax)
    reading.breaches.push(`${line}: ${words.length} words: "${words.slice(0, 8).join(' ')} …"`);
  for (const word of words) {
    const plain = plainWords.get(word.toLowerCase());
    if (plain !== undefined) reading.breaches.push(`${line}: "${word}": write ${plain}`);
  }
}
