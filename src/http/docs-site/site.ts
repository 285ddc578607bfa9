import { tags } from '../openapi/description.ts';
import type { Operation } from '../operation.ts';
import { type Answer, makeAnswer, makeTaggedAnswer } from '../response/answer.ts';
import { toLines } from '../response/header-lines.ts';
import { type Assets, readAssets } from './assets.ts';
import { findRoot, notFoundPage, type Page, renderPage, welcomePage } from './frame.ts';
import { guides, readGuide } from './guides.ts';
import { nameAddress, renderOperation } from './reference/operation-page.ts';
import { renderHeaders, renderOverview } from './reference/overview.ts';
import { indexPages } from './search-index.ts';

export interface SiteOptions {
  readonly operations: readonly Operation[];
  readonly publicUrl: string | null;
  /** Returns the base URL at which this machine reaches the service. The server must be listening. */
  readonly findOwnUrl: () => string;
}

/** All pages of the documentation, ready to send. */
export interface Site {
  /** Pages by path below `/docs`. The path of the first page is empty. */
  readonly pages: ReadonlyMap<string, Answer>;
  readonly welcome: Answer;
  /** Returns the 404 page. The relative links need `depth`, the number of folders in the requested path. */
  notFound(depth: number): Answer;
  readonly assets: Assets;
}

const htmlType = 'text/html; charset=utf-8';

/** Renders all pages. Throws if a guide has a link that leads to no page. */
export async function makeSite(options: SiteOptions): Promise<Site> {
  const lines = toLines({ 'referrer-policy': 'no-referrer' });
  const neverStored = lines + toLines({ 'cache-control': 'no-store' });
  const pages = await listPages(options);
  const frame = { pages, assets: await readAssets(indexPages(pages)) };
  const tag = (text: string) => makeTaggedAnswer(text, lines, htmlType);
  return {
    pages: new Map(
      pages.map((page) => [page.path, tag(renderPage({ ...page, root: findRoot(page.path) }, frame))]),
    ),
    welcome: tag(renderPage({ ...welcomePage, path: null, root: '.' }, frame)),
    notFound(depth) {
      const root = Array(depth).fill('..').join('/');
      return makeAnswer(404, renderPage({ ...notFoundPage, path: null, root }, frame), neverStored, htmlType);
    },
    assets: frame.assets,
  };
}

/** Returns all pages in the order of the navigation: guides, operations by tag, headers. */
async function listPages({ operations, publicUrl, findOwnUrl }: SiteOptions): Promise<Page[]> {
  const baseUrl = publicUrl ?? findOwnUrl();
  const callUrl = publicUrl ?? `${findRoot('reference/any')}/v1`;
  const byTag = tags.flatMap(({ name }) => operations.filter(({ tag }) => tag === name));
  return [
    { path: '', title: 'Overview', group: 'Start', content: renderOverview(operations, baseUrl) },
    ...(await Promise.all(guides.map((guide) => readGuide(guide, baseUrl)))),
    ...byTag.map((operation) => ({
      path: `reference/${nameAddress(operation)}`,
      title: operation.summary,
      group: operation.tag.charAt(0).toUpperCase() + operation.tag.slice(1),
      method: operation.method,
      isDeprecated: operation.deprecation !== undefined,
      content: renderOperation(operation, { baseUrl, callUrl }),
    })),
    { path: 'reference/headers', title: 'Headers', group: 'More', content: renderHeaders() },
  ];
}
