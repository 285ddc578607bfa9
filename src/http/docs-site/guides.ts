import { readFile } from 'node:fs/promises';
import { Marked } from 'marked';
import { html, type Markup, trusted } from './markup.ts';
import { renderCode } from './tabs.ts';

/** A section of the navigation. */
export type Section = 'start' | 'guide';

/** A Markdown document of the project that is served as a page. */
export interface Guide {
  /** Path of the page below `/docs/`. */
  readonly name: string;
  /** Path of the document in the project. */
  readonly path: string;
  /** Title in the navigation. */
  readonly title: string;
  readonly section: Section;
  /** The heading at which the part for operators begins. The page ends before this heading. */
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
/** The URLs of a service with default settings, as the documents contain them. `renderGuide` replaces these URLs. */
const usualBaseUrl = 'http://127.0.0.1:8080/v1';
const usualDocsUrl = 'http://127.0.0.1:8080/docs';
/** Minimum number of sections of a guide with a table of contents. */
const contentsMin = 3;

/**
 * Renders a guide as HTML. `baseUrl` replaces the base URL in the document. Throws if the document links to a document
 * that is not served.
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

/** Renders the table of contents. Returns null if the guide has fewer than `contentsMin` sections. */
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

/** Returns the anchor of a heading. GitHub uses the same anchors. */
export function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

/** Converts a link between documents into a link between pages. */
function toAddress(href: string, document: URL): string {
  if (/^(?:#|[a-z]+:)/.test(href)) return href;
  const { href: target, hash } = new URL(href, document);
  const guide = guides.find(({ path }) => new URL(path, root).href === target.replace(/#.*/, ''));
  if (guide === undefined) throw new Error(`${document.pathname}: the link ${href} does not lead to a guide`);
  return guide.name + hash;
}
