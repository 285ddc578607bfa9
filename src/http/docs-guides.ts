import { readFile } from 'node:fs/promises';
import { Marked } from 'marked';

/** A document of `docs/` that is served as a page. */
export interface Guide {
  /** Its address below `/docs/`, and its file without `.md`. */
  readonly name: string;
  /** What the navigation calls it. */
  readonly title: string;
  /** The heading with which the part for operators begins; that part is not served. */
  readonly endsBefore?: string;
}

export const guides: readonly Guide[] = [
  { name: 'getting-started', title: 'Getting started' },
  { name: 'pages', title: 'Pages' },
  { name: 'limits', title: 'Limits and backoff', endsBefore: '## What is kept' },
  { name: 'errors', title: 'Errors' },
  { name: 'deprecations', title: 'Deprecations' },
];

const folder = new URL('../../docs/', import.meta.url);
/** The base address that the documents name, as a first start has it. */
const usualBaseUrl = 'http://127.0.0.1:8080/v1';

/** A guide as HTML, with the base address that is given and an anchor at each heading, named as GitHub does. */
export async function renderGuide({ name, endsBefore }: Guide, baseUrl: string): Promise<string> {
  const document = await readFile(new URL(`${name}.md`, folder), 'utf8');
  const [text = ''] = endsBefore === undefined ? [document] : document.split(`\n${endsBefore}`, 1);
  return markdown.parse(text.replaceAll(usualBaseUrl, baseUrl), { async: false });
}

const markdown = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      const anchor = toAnchor(text);
      const content = this.parser.parseInline(tokens);
      return `<h${depth} id="${anchor}"><a href="#${anchor}">${content}</a></h${depth}>\n`;
    },

    link({ href, tokens }) {
      const content = this.parser.parseInline(tokens);
      const address = toAddress(href);
      return address === null ? content : `<a href="${address}">${content}</a>`;
    },
  },
});

/** The anchor of a heading, as GitHub names it. */
export function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

/** Where a link of a document leads on the pages; null where its target is not served. */
function toAddress(href: string): string | null {
  const [, file, anchor = ''] = /^([\w/.-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (file === undefined) return href;
  return guides.some(({ name }) => name === file) ? file + anchor : null;
}
