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
import { nameAddress, writeOperation } from './reference/operation-markdown.ts';
import { renderOperation } from './reference/operation-page.ts';
import { writeEventTypes, writeHeaders, writeOverview } from './reference/text-pages.ts';

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

const pageHeaders = { 'referrer-policy': 'no-referrer', 'cache-control': 'private, no-cache' };
const neverStored = listHeaders({ ...pageHeaders, 'cache-control': 'no-store' });

/** Renders all pages. Throws if a guide has a link that leads to no page. */
export async function makeSite(options: SiteOptions): Promise<Site> {
  const baseUrl = options.publicUrl ?? options.findOwnUrl();
  const docsUrl = new URL('docs', baseUrl).href;
  const plain = await listPages(options, baseUrl);
  const assets = await readAssets(plain);
  const coloured = await colourPages(plain.map(({ content }) => content));
  const pages = plain.map((page, index) => ({ ...page, content: coloured[index] ?? page.content }));
  const frame = { pages, version: assets.version };
  const changelog = pages.find(({ path }) => path === 'changelog');
  if (changelog === undefined) throw new Error('there is no changelog');
  const texts: readonly (readonly [address: string, type: string, text: string])[] = [
    ['/', 'text/html', renderPage(welcomePage, '/', frame)],
    ['/llms.txt', 'text/plain', writeList(pages, docsUrl)],
    ['/docs/changelog.atom', 'application/atom+xml', writeFeed(changelog, docsUrl)],
    ...pages.flatMap((page) => {
      const address = addressOf(page.path);
      return [
        [address, 'text/html', renderPage(page, address, frame)] as const,
        [markdownOf(page.path), 'text/markdown', page.markdown] as const,
      ];
    }),
  ];
  const files = texts.map(async ([address, type, text]) => {
    return [address, await makeServedFile(text, `${type}; charset=utf-8`, pageHeaders)] as const;
  });
  for (const [name, file] of assets.files)
    files.push(Promise.resolve([`/docs/assets/${assets.version}/${name}`, file]));
  return {
    files: new Map(await Promise.all(files)),
    notFound(address) {
      const text = renderPage(notFoundPage, address, frame);
      return makeAnswer(404, text, neverStored, 'text/html; charset=utf-8');
    },
  };
}

/** Returns all pages in the order of the navigation: guides, operations by tag, headers and event types. */
async function listPages({ operations, publicUrl }: SiteOptions, baseUrl: string): Promise<Page[]> {
  const callUrl = publicUrl ?? `${findRoot('/docs/reference/any')}/v1`;
  const byTag = tags.flatMap(({ name }) => operations.filter(({ tag }) => tag === name));
  const overview = writeOverview(byTag, baseUrl);
  return [
    makeTextPage('', 'Overview', 'Start', overview),
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

function makeTextPage(path: string, title: string, group: string, markdown: string): Page {
  // The first page is at `/docs`, beside the folder of the others.
  const text = path === '' ? markdown.replaceAll('](', '](./docs/') : markdown;
  const content = html`<article class="${path === '' ? 'overview' : 'text'}">${renderDocument(text)}</article>`;
  return { path, title, group, content, markdown };
}

/** Writes `/llms.txt`: what the service is, and the address of each page as Markdown. */
function writeList(pages: readonly Page[], docsUrl: string): string {
  const parts = [...Map.groupBy(pages, ({ group }) => group)].map(([group, own]) => {
    const lines = own.map(({ title, path }) => `- [${title}](${docsUrl}/${path || 'index'}.md)`);
    return `## ${group}\n\n${lines.join('\n')}`;
  });
  const description = `- [openapi.json](${new URL('openapi.json', docsUrl).href}): the description in OpenAPI 3.1`;
  return `# Animal Store\n\n> ${introduction.split('\n')[0]}\n\n${parts.join('\n\n')}\n${description}\n`;
}
