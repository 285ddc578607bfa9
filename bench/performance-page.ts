import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const docs = join(import.meta.dirname, '..', 'docs');
const page = join(docs, 'performance.md');

/** The blocks of docs/performance.md that the benchmark writes. */
export type Block = 'comparison' | 'peers' | 'sizes' | 'memory' | 'crowds';

/** Replaces a block of docs/performance.md by Markdown. Appends the block if it does not exist. */
export function writeBlock(block: Block, markdown: string): void {
  const start = `<!-- bench ${block} -->`;
  const end = `<!-- end of bench ${block} -->`;
  mkdirSync(docs, { recursive: true });
  const text = existsSync(page) ? readFileSync(page, 'utf8') : '# Performance\n';
  const written = `${start}\n\n${markdown.trim()}\n\n${end}`;
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  const isThere = from !== -1 && to > from;
  writeFileSync(
    page,
    isThere
      ? text.slice(0, from) + written + text.slice(to + end.length)
      : `${text.trimEnd()}\n\n${written}\n`,
  );
}
