import { readFile } from 'node:fs/promises';
import { Marked } from 'marked';
import { html, type Markup, trusted } from './markup.ts';
import { renderCode } from './tabs.ts';

/** The section of the navigation that a guide is in. */
export type Section = 'start' | 'guide';

/** A document of the project, served as a page. */
export interface Guide {
  /** Its address below `/docs/`. */
  readonly name: string;
  /** Its path in the project. */
  readonly path: string;
  /** Its title in the navigation. */
  readonly title: string;
  readonly section: Section;
  /** The heading where the part for operators begins. That part is not served. */
  readonly endsBefore?: string;
}

/** Every guide, in the order of the navigation. */
export const guides: readonly Guide[] = [
  { name: 'getting-started', path: 'docs/getting-started.md', title: 'Quickstart', section: 'start' },
  { name: 'authentication', path: 'docs/keys.md', title: 'Authentication', section: 'start' },
  { name: 'client', path: 'client/README.md', title: 'TypeScript client', section: 'start' },
  { name: 'pages', path: 'docs/pages.md', title: 'Pagination', section: 'guide' },
  { name: 'idempotency', path: 'docs/idempotency.md', title: 'Idempotency', section: 'guide' },
  { name: 'changing-animals', path: 'docs/changing-animals.md', title: 'Changing animals', section: 'guide' },
  { name: 'orders', path: 'docs/orders.md', title: 'Orders', section: 'guide' },
  { name: 'events', path: 'docs/events.md', title: 'Events', section: 'guide' },
  { name: 'webhooks', path: 'docs/webhooks.md', title: 'Webhooks', section: 'guide' },
  {
    name: 'limits',
    path: 'docs/limits.md',
    title: 'Limits and backoff',
    section: 'guide',
    endsBefore: '## What is kept',
  },
  { name: 'errors', path: 'docs/errors.md', title: 'Errors', section: 'guide' },
  { name: 'deprecations', path: 'docs/deprecations.md', title: 'Versions and deprecation', section: 'guide' },
  { name: 'changelog', path: 'docs/interface-changes.md', title: 'Changelog', section: 'guide' },
];

const root = new URL('../../../', import.meta.url);
/** The base address in the documents, which is that of a first start, and the address of the pages. */
const usualBaseUrl = 'http://127.0.0.1:8080/v1';
const usualDocsUrl = 'http://127.0.0.1:8080/docs';
/** A guide with at least this many sections has a list of them. */
const contentsMin = 3;

/**
 * Renders a guide as HTML with the given base address and an anchor at each heading, named as on GitHub. Throws for a
 * link to a document that is not served.
 */
export async function renderGuide({ path, endsBefore }: Guide, baseUrl: string): Promise<Markup> {
  const document = new URL(path, root);
  const whole = await readFile(document, 'utf8');
  const [text = ''] = endsBefore === undefined ? [whole] : whole.split(`\n${endsBefore}`, 1);
  const docsUrl = baseUrl.replace(/v1\/?$/, 'docs');
  const served = text.replaceAll(usualBaseUrl, baseUrl).replaceAll(usualDocsUrl, docsUrl);
  const content = trusted(createMarkdown(document).parse(served, { async: false }));
  return html`<article class="guide">${content}</article>${renderContents(content)}`;
}

/** Lists the sections of a guide with links. Null for a short guide. */
function renderContents({ markup }: Markup): Markup | null {
  const headings = [...markup.matchAll(/<h2 id="([^"]*)"><a [^>]*>(.*?)<\/a><\/h2>/g)];
  if (headings.length < contentsMin) return null;
  const entries = headings.map(
    ([, anchor = '', title = '']) => html`<li><a href="#${anchor}">${trusted(title)}</a></li>`,
  );
  return html`<aside class="contents" aria-label="On this page"><p>On this page</p><ul>${entries}</ul></aside>`;
}

function createMarkdown(document: URL): Marked {
  return new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const anchor = toAnchor(text);
        const content = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${content}</h1>\n`;
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${content}</a></h${depth}>\n`;
      },

      link({ href, tokens }) {
        return `<a href="${toAddress(href, document)}">${this.parser.parseInline(tokens)}</a>`;
      },

      code({ text, lang = '' }) {
        return `${renderCode(text, lang.split(' ', 1)[0] ?? '').markup}\n`;
      },

      table(token) {
        const head = token.header.map((cell) => `<th>${this.parser.parseInline(cell.tokens)}</th>`);
        const rows = token.rows.map(
          (row) =>
            `<tr>${row.map((cell) => `<td>${this.parser.parseInline(cell.tokens)}</td>`).join('')}</tr>`,
        );
        return `<div class="table" tabindex="0"><table><thead><tr>${head.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>\n`;
      },
    },
  });
}

/** The anchor of a heading, named as on GitHub. */
export function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

/** The address on the pages for a link in a document. */
function toAddress(href: string, document: URL): string {
  if (/^(?:#|[a-z]+:)/.test(href)) return href;
  const { href: target, hash } = new URL(href, document);
  const guide = guides.find(({ path }) => new URL(path, root).href === target.replace(/#.*/, ''));
  if (guide === undefined) throw new Error(`${document.pathname}: ${href} leads to no guide`);
  return guide.name + hash;
}
