import { tags } from '../api/operations.ts';
import { introduction } from '../openapi/description.ts';
import type { Operation } from '../operation.ts';
import { type Answer, listHeaders, makeAnswer } from '../response/answer.ts';
import { makeServedFile, type ServedFile } from '../response/served-file.ts';
import { readAssets } from './assets.ts';
import { colourPages } from './code.ts';
import { writeFeed } from './feed.ts';
import {
  addressOf,
  findRoot,
  markdownOf,
  notFoundPage,
  type Page,
  renderPage,
  welcomePage,
} from './frame.ts';
import { guides, readGuide } from './guides.ts';
import { renderDocument } from './markdown.ts';
import { html } from './markup.ts';
import { writeEventTypes } from './reference/event-types.ts';
import { writeOperation } from './reference/operation-markdown.ts';
import { nameAddress, renderOperation } from './reference/operation-page.ts';
import { writeHeaders, writeOverview } from './reference/overview.ts';
import { indexPages } from './search-index.ts';

export interface SiteOptions {
  readonly operations: readonly Operation[];
  readonly publicUrl: string | null;
  /** Returns the base URL at which this machine reaches the service. The server must be listening. */
  readonly findOwnUrl: () => string;
}

/** All pages of the documentation, ready to send. */
export interface Site {
  /** Files by address. Each page also has an address that ends in `.md`, which serves it as Markdown. */
  readonly files: ReadonlyMap<string, ServedFile>;
  /** Returns the 404 page for an address. */
  notFound(address: string): Answer;
}

const htmlType = 'text/html; charset=utf-8';
const pageHeaders = { 'referrer-policy': 'no-referrer', 'cache-control': 'private, no-cache' };
const neverStored = listHeaders({ ...pageHeaders, 'cache-control': 'no-store' });

/** Renders all pages. Throws if a guide has a link that leads to no page. */
export async function makeSite(options: SiteOptions): Promise<Site> {
  const plain = await listPages(options);
  const assets = await readAssets(indexPages(plain));
  const coloured = await colourPages(plain.map(({ content }) => content));
  const pages = plain.map((page, index) => ({ ...page, content: coloured[index] ?? page.content }));
  const frame = { pages, version: assets.version };
  const changelog = pages.find(({ path }) => path === 'changelog');
  if (changelog === undefined) throw new Error('there is no changelog');
  const texts: (readonly [address: string, type: string, text: string])[] = [
    ['/', htmlType, renderPage(welcomePage, '/', frame)],
    ['/llms.txt', 'text/plain; charset=utf-8', writeList(pages, options)],
    [
      '/docs/changelog.atom',
      'application/atom+xml; charset=utf-8',
      writeFeed(changelog, findDocsUrl(options)),
    ],
  ];
  for (const page of pages) {
    const address = addressOf(page.path);
    texts.push([address, htmlType, renderPage(page, address, frame)]);
    texts.push([markdownOf(page.path), 'text/markdown; charset=utf-8', page.markdown]);
  }
  const files = texts.map(
    async ([address, type, text]) => [address, await makeServedFile(text, type, pageHeaders)] as const,
  );
  const assetFiles = Array.from(
    assets.files,
    ([name, file]) => [`/docs/assets/${assets.version}/${name}`, file] as const,
  );
  return {
    files: new Map([...(await Promise.all(files)), ...assetFiles]),
    notFound: (address) => makeAnswer(404, renderPage(notFoundPage, address, frame), neverStored, htmlType),
  };
}

/** Returns all pages in the order of the navigation: guides, operations by tag, headers and event types. */
async function listPages({ operations, publicUrl, findOwnUrl }: SiteOptions): Promise<Page[]> {
  const baseUrl = publicUrl ?? findOwnUrl();
  const callUrl = publicUrl ?? `${findRoot('/docs/reference/any')}/v1`;
  const byTag = tags.flatMap(({ name }) => operations.filter(({ tag }) => tag === name));
  const overview = writeOverview(byTag, baseUrl);
  return [
    makeTextPage('', 'Overview', 'Start', overview, (href) => `./docs/${href}`),
    ...(await Promise.all(guides.map((guide) => readGuide(guide, baseUrl)))),
    ...byTag.map((operation) => ({
      path: `reference/${nameAddress(operation)}`,
      title: operation.summary,
      group: operation.tag.charAt(0).toUpperCase() + operation.tag.slice(1),
      method: operation.method,
      isDeprecated: operation.deprecation !== undefined,
      content: renderOperation(operation, baseUrl, callUrl),
      markdown: writeOperation(operation, baseUrl),
    })),
    makeTextPage('reference/event-types', 'Event types', 'More', writeEventTypes()),
    makeTextPage('reference/headers', 'Headers', 'More', writeHeaders()),
  ];
}

function makeTextPage(
  path: string,
  title: string,
  group: string,
  markdown: string,
  toAddress?: (href: string) => string,
): Page {
  const content = html`<article class="${path === '' ? 'overview' : 'text'}">${renderDocument(markdown, toAddress)}</article>`;
  return { path, title, group, content, markdown };
}

/** Returns the absolute address of `/docs`. */
function findDocsUrl({ publicUrl, findOwnUrl }: SiteOptions): string {
  return new URL('docs', publicUrl ?? findOwnUrl()).href;
}

/** Writes `/llms.txt`: what the service is, and the address of each page as Markdown. */
function writeList(pages: readonly Page[], options: SiteOptions): string {
  const docs = findDocsUrl(options);
  const groups = Map.groupBy(pages, ({ group }) => group);
  const parts = [...groups].map(([group, own]) => {
    const lines = own.map(({ title, path }) => `- [${title}](${docs}/${path || 'index'}.md)`);
    return `## ${group}\n\n${lines.join('\n')}`;
  });
  const description = `- [openapi.json](${new URL('openapi.json', docs).href}): the description in OpenAPI 3.1`;
  return `# Animal Store\n\n> ${introduction.split('\n')[0]}\n\n${parts.join('\n\n')}\n${description}\n`;
}
