import { readFile } from 'node:fs/promises';
import { Marked } from 'marked';

/** A document of the project that is served as a page. */
export interface Guide {
  /** Its address below `/docs/`. */
  readonly name: string;
  /** Its path in the project. */
  readonly path: string;
  /** What the navigation calls it. */
  readonly title: string;
  /** The heading with which the part for operators begins; that part is not served. */
  readonly endsBefore?: string;
}

export const guides: readonly Guide[] = [
  { name: 'getting-started', path: 'docs/getting-started.md', title: 'Getting started' },
  { name: 'keys', path: 'docs/keys.md', title: 'Keys and scopes' },
  { name: 'orders', path: 'docs/orders.md', title: 'Orders' },
  { name: 'client', path: 'client/README.md', title: 'TypeScript client' },
  { name: 'pages', path: 'docs/pages.md', title: 'Pages' },
  { name: 'changing-animals', path: 'docs/changing-animals.md', title: 'Changing animals' },
  { name: 'events', path: 'docs/events.md', title: 'Events' },
  {
    name: 'limits',
    path: 'docs/limits.md',
    title: 'Limits and backoff',
    endsBefore: '## What is kept',
  },
  { name: 'errors', path: 'docs/errors.md', title: 'Errors' },
  { name: 'deprecations', path: 'docs/deprecations.md', title: 'Deprecations' },
];

const root = new URL('../../../', import.meta.url);
/** The base address that the documents name, as a first start has it. */
const usualBaseUrl = 'http://127.0.0.1:8080/v1';

/**
 * A guide as HTML, with the base address that is given and an anchor at each heading, named as GitHub does. Throws for
 * a link to a document that is not served.
 */
export async function renderGuide({ path, endsBefore }: Guide, baseUrl: string): Promise<string> {
  const document = new URL(path, root);
  const whole = await readFile(document, 'utf8');
  const [text = ''] = endsBefore === undefined ? [whole] : whole.split(`\n${endsBefore}`, 1);
  return createMarkdown(document).parse(text.replaceAll(usualBaseUrl, baseUrl), { async: false });
}

function createMarkdown(document: URL): Marked {
  return new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const anchor = toAnchor(text);
        const content = this.parser.parseInline(tokens);
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${content}</a></h${depth}>\n`;
      },

      link({ href, tokens }) {
        return `<a href="${toAddress(href, document)}">${this.parser.parseInline(tokens)}</a>`;
      },
    },
  });
}

/** The anchor of a heading, as GitHub names it. */
export function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

/** Where a link of a document leads on the pages. */
function toAddress(href: string, document: URL): string {
  if (/^(?:#|[a-z]+:)/.test(href)) return href;
  const { href: target, hash } = new URL(href, document);
  const guide = guides.find(({ path }) => new URL(path, root).href === target.replace(/#.*/, ''));
  if (guide === undefined) throw new Error(`${document.pathname}: ${href} leads to no guide`);
  return guide.name + hash;
}
