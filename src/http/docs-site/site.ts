import { tags } from '../api/operations.ts';
import { introduction } from '../openapi/description.ts';
import type { Operation } from '../operation.ts';
import { type Answer, listHeaders, makeAnswer } from '../response/answer.ts';
import { makeServedFile, type ServedFile } from '../response/served-file.ts';
import { type Assets, readAssets } from './assets.ts';
import { colourPages } from './code.ts';
import { writeFeed } from './feed.ts';
import { findRoot, notFoundPage, type Page, renderPage, welcomePage } from './frame.ts';
import { guides, readGuide } from './guides.ts';
import { renderDocument } from './markdown.ts';
import { html } from './markup.ts';
import { writeEventTypes } from './reference/event-types.ts';
import { writeOperation } from './reference/operation-markdown.ts';
import { nameAddress, renderOperation } from './reference/operation-page.ts';
import { renderOverview, writeHeaders, writeOverview } from './reference/overview.ts';
import { indexPages } from './search-index.ts';

export interface SiteOptions {
  readonly operations: readonly Operation[];
  readonly publicUrl: string | null;
  /** Returns the base URL at which this machine reaches the service. The server must be listening. */
  readonly findOwnUrl: () => string;
}

/** All pages of the documentation, ready to send. */
export interface Site {
  /** Pages by path below `/docs`. The path of the first page is empty. A page as Markdown ends in `.md`. */
  readonly pages: ReadonlyMap<string, ServedFile>;
  readonly welcome: ServedFile;
  /** The list of all pages for language models. */
  readonly list: ServedFile;
  /** The changelog as an Atom feed. */
  readonly feed: ServedFile;
  /** Returns the 404 page. The relative links need `depth`, the number of folders in the requested path. */
  notFound(depth: number): Answer;
  readonly assets: Assets;
}

const types = {
  html: 'text/html; charset=utf-8',
  markdown: 'text/markdown; charset=utf-8',
  atom: 'application/atom+xml; charset=utf-8',
};
const pageHeaders = { 'referrer-policy': 'no-referrer', 'cache-control': 'private, no-cache' };

/** Renders all pages. Throws if a guide has a link that leads to no page. */
export async function makeSite(options: SiteOptions): Promise<Site> {
  const plain = await listPages(options);
  const assets = await readAssets(indexPages(plain));
  const coloured = await colourPages(plain.map(({ content }) => content));
  const pages = plain.map((page, index) => ({ ...page, content: coloured[index] ?? page.content }));
  const frame = { pages, assets };
  const serveHtml = (text: string) => makeServedFile(text, types.html, pageHeaders);
  const served = pages.map(async (page): Promise<[path: string, file: ServedFile][]> => {
    const whole = await serveHtml(renderPage({ ...page, root: findRoot(page.path) }, frame));
    const markdown = await makeServedFile(page.markdown, types.markdown, pageHeaders);
    return [
      [page.path, whole],
      [`${page.path || 'index'}.md`, markdown],
    ];
  });
  const changelog = pages.find(({ path }) => path === 'changelog');
  if (changelog === undefined) throw new Error('there is no changelog');
  const neverStored = listHeaders({ ...pageHeaders, 'cache-control': 'no-store' });
  return {
    pages: new Map((await Promise.all(served)).flat()),
    welcome: await serveHtml(renderPage({ ...welcomePage, path: null, root: '.' }, frame)),
    list: await makeServedFile(writeList(pages, options), 'text/plain; charset=utf-8', pageHeaders),
    feed: await makeServedFile(writeFeed(changelog, findDocsUrl(options)), types.atom, pageHeaders),
    notFound(depth) {
      const root = Array(depth).fill('..').join('/');
      return makeAnswer(
        404,
        renderPage({ ...notFoundPage, path: null, root }, frame),
        neverStored,
        types.html,
      );
    },
    assets,
  };
}

/** Returns all pages in the order of the navigation: guides, operations by tag, headers and event types. */
async function listPages({ operations, publicUrl, findOwnUrl }: SiteOptions): Promise<Page[]> {
  const baseUrl = publicUrl ?? findOwnUrl();
  const callUrl = publicUrl ?? `${findRoot('reference/any')}/v1`;
  const byTag = tags.flatMap(({ name }) => operations.filter(({ tag }) => tag === name));
  return [
    {
      path: '',
      title: 'Overview',
      group: 'Start',
      content: renderOverview(operations, baseUrl),
      markdown: writeOverview(byTag, baseUrl),
    },
    ...(await Promise.all(guides.map((guide) => readGuide(guide, baseUrl)))),
    ...byTag.map((operation) => ({
      path: `reference/${nameAddress(operation)}`,
      title: operation.summary,
      group: operation.tag.charAt(0).toUpperCase() + operation.tag.slice(1),
      method: operation.method,
      isDeprecated: operation.deprecation !== undefined,
      content: renderOperation(operation, { baseUrl, callUrl }),
      markdown: writeOperation(operation, baseUrl),
    })),
    makeTextPage('reference/event-types', 'Event types', writeEventTypes()),
    makeTextPage('reference/headers', 'Headers', writeHeaders()),
  ];
}

function makeTextPage(path: string, title: string, markdown: string): Page {
  const content = html`<article>${renderDocument(markdown, (href) => href)}</article>`;
  return { path, title, group: 'More', content, markdown };
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
