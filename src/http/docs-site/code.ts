import { runInThread } from '../../run-in-thread.ts';
import type { Page } from './frame.ts';
import { html, type Markup, trusted } from './markup.ts';

/** Renders a code block. `colourPages` colours it, and in the browser, copy.js adds a copy button. */
export function renderCode(code: string, language: string): Markup {
  return html`<pre tabindex="0" data-language="${language}"><code>${code}</code></pre>`;
}

/** Matches a block of `renderCode` up to the end of its code: the start, the language and the code. */
export const codeBlock = /(<pre tabindex="0" data-language="([^"]*)"><code>)([^<]*)/g;

/** Colours the code blocks of pages with Shiki, in a thread, because that takes seconds of a processor. */
export async function colourPages(pages: readonly Page[]): Promise<Page[]> {
  const entry = new URL('./colour-thread.ts', import.meta.url);
  const markups = pages.map(({ content }) => content.markup);
  const coloured = await runInThread<readonly string[]>(entry, markups);
  return pages.map((page, index) => ({ ...page, content: trusted(coloured[index] ?? page.content.markup) }));
}

/** So short that a line fits beside the text of an operation, and on a phone. */
const usualLineLength = 40;

/** Formats JSON for display. A value takes one line if it fits in `lineLengthMax` characters. */
export function formatJson(value: unknown, lineLengthMax = usualLineLength, indent = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const deeper = `${indent}  `;
  const [start, end, blank] = Array.isArray(value) ? ['[', ']', ''] : ['{', '}', ' '];
  const write = (lengthMax: number) =>
    Object.entries(value).map(
      ([name, member]) =>
        (Array.isArray(value) ? '' : `${JSON.stringify(name)}: `) + formatJson(member, lengthMax, deeper),
    );
  const short = write(Number.POSITIVE_INFINITY);
  if (short.length === 0) return start + end;
  const line = `${start}${blank}${short.join(', ')}${blank}${end}`;
  if (indent.length + line.length <= lineLengthMax) return line;
  return `${start}\n${deeper}${write(lineLengthMax).join(`,\n${deeper}`)}\n${indent}${end}`;
}
