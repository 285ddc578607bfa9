import { readFile } from 'node:fs/promises';
import type { Page } from './frame.ts';
import { renderDocument } from './markdown.ts';
import { html, type Markup, trusted } from './markup.ts';

/** The documents that are served, in the order of the navigation. `name` is the path below `/docs/`. */
export const guides = [
  { name: 'getting-started', path: 'docs/getting-started.md', title: 'Quickstart', group: 'Start' },
  { name: 'authentication', path: 'docs/keys.md', title: 'Authentication', group: 'Start' },
  { name: 'client', path: 'client/README.md', title: 'TypeScript client', group: 'Start' },
  { name: 'python-client', path: 'client-python/README.md', title: 'Python client', group: 'Start' },
  { name: 'pages', path: 'docs/pages.md', title: 'Pagination', group: 'Guides' },
  { name: 'idempotency', path: 'docs/idempotency.md', title: 'Idempotency', group: 'Guides' },
  { name: 'changing-animals', path: 'docs/changing-animals.md', title: 'Changing animals', group: 'Guides' },
  { name: 'orders', path: 'docs/orders.md', title: 'Orders', group: 'Guides' },
  { name: 'events', path: 'docs/events.md', title: 'Events', group: 'Guides' },
  { name: 'webhooks', path: 'docs/webhooks.md', title: 'Webhooks', group: 'Guides' },
  { name: 'limits', path: 'docs/limits.md', title: 'Limits and backoff', group: 'Guides' },
  { name: 'errors', path: 'docs/errors.md', title: 'Errors', group: 'Guides' },
  { name: 'deprecations', path: 'docs/deprecations.md', title: 'Versions and deprecation', group: 'Guides' },
  { name: 'changelog', path: 'docs/interface-changes.md', title: 'Changelog', group: 'Guides' },
] as const;

type Guide = (typeof guides)[number];

/** The heading at which the part of a document for operators begins. The page ends before it. */
const operatorPart = '## What is kept';

const root = new URL('../../../', import.meta.url);
/** The address of a service with default settings, as the documents contain it. A page has that of its service. */
const usualUrl = 'http://127.0.0.1:8080/';
const contentsMin = 3;

/** Renders the page of a guide for `baseUrl`. Throws if the document links to one that is not served. */
export async function readGuide({ name, path, title, group }: Guide, baseUrl: string): Promise<Page> {
  const document = new URL(path, root);
  const [text = ''] = (await readFile(document, 'utf8')).split(`\n${operatorPart}`, 1);
  const served = text.replaceAll(usualUrl, new URL('.', baseUrl).href);
  const link = (ending: string) =>
    served.replaceAll(/\]\(([^)\s]+)\)/g, (_, href) => `](${toAddress(href, document, ending)})`);
  const article = renderDocument(link(''));
  const content = html`<article class="guide">${article}</article>${renderContents(article)}`;
  return { path: name, title, group, content, markdown: link('.md') };
}

/** Renders the table of contents. Returns null if the guide has fewer than `contentsMin` sections. */
function renderContents({ markup }: Markup): Markup | null {
  const headings = [...markup.matchAll(/<h2 id="[^"]*">(<a [^>]*>.*?<\/a>)<\/h2>/g)];
  if (headings.length < contentsMin) return null;
  const entries = headings.map(([, link = '']) => html`<li>${trusted(link)}</li>`);
  return html`<aside class="contents" aria-label="On this page"><p>On this page</p><ul>${entries}</ul></aside>`;
}

/** Converts a link between documents into a link between pages, whose paths end in `ending`. */
function toAddress(href: string, document: URL, ending: string): string {
  if (/^(?:#|[a-z]+:)/.test(href)) return href;
  const { href: target, hash } = new URL(href, document);
  const guide = guides.find(({ path }) => new URL(path, root).href === target.replace(/#.*/, ''));
  if (guide === undefined) throw new Error(`${document.pathname}: the link ${href} does not lead to a guide`);
  return guide.name + ending + hash;
}
