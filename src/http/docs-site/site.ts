import { type Answer, makeAnswer, makeTaggedAnswer } from '../response/answer.ts';
import { toLines } from '../response/header-lines.ts';
import { type Assets, readAssets } from './assets.ts';
import { guides, renderGuide } from './guides.ts';
import { type Frame, notFoundPage, renderOtherPage, renderPage, welcomePage } from './layout.ts';
import { listGroups } from './navigation.ts';
import { findRoot, type Page } from './page.ts';
import { type Description, readDescription } from './reference/description.ts';
import { findCommonCodes } from './reference/failures.ts';
import { findCommonHeaders } from './reference/headers.ts';
import { renderHeaders } from './reference/headers-page.ts';
import { renderOperation } from './reference/operation-page.ts';
import { nameAddress, renderOverview } from './reference/overview.ts';
import { indexPages } from './search-index.ts';

export interface SiteOptions {
  readonly publicUrl: string | null;
  /** Returns the base URL at which this machine reaches the service. The server must be listening. */
  readonly findOwnUrl: () => string;
  /** Returns the text of `/openapi.json`. */
  readonly describe: (ownUrl: string) => string;
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
const neverStored = toLines({ 'cache-control': 'no-store' });

/** Renders all pages. Throws if a guide has a link that leads to no page. */
export async function makeSite(options: SiteOptions): Promise<Site> {
  const lines = toLines({ 'referrer-policy': 'no-referrer' });
  const description = readDescription(options.describe(options.findOwnUrl()));
  const pages = [...listReferencePages(options, description), ...(await listGuidePages(options))];
  const assets = await readAssets(indexPages(pages));
  const frame: Frame = { groups: listGroups(description), assets };
  return {
    pages: new Map(
      pages.map((page) => [page.path, makeTaggedAnswer(renderPage(page, frame), lines, htmlType)]),
    ),
    welcome: makeTaggedAnswer(renderOtherPage(welcomePage, '.', frame), lines, htmlType),
    notFound(depth) {
      const root = Array(depth).fill('..').join('/');
      return makeAnswer(404, renderOtherPage(notFoundPage, root, frame), lines + neverStored, htmlType);
    },
    assets,
  };
}

function listReferencePages({ publicUrl, findOwnUrl }: SiteOptions, description: Description): Page[] {
  const { operations } = description;
  const baseUrl = publicUrl ?? findOwnUrl();
  const context = {
    description,
    baseUrl,
    callUrl: publicUrl ?? `${findRoot('reference/any')}/v1`,
    commonHeaders: findCommonHeaders(operations),
    commonCodes: findCommonCodes(operations),
  };
  const own = operations.map((operation) => ({
    path: `reference/${nameAddress(operation)}`,
    title: operation.summary,
    content: renderOperation(operation, context),
  }));
  return [
    { path: '', title: 'Overview', content: renderOverview(description, baseUrl) },
    ...own,
    { path: 'reference/headers', title: 'Headers', content: renderHeaders(description) },
  ];
}

async function listGuidePages({ publicUrl, findOwnUrl }: SiteOptions): Promise<Page[]> {
  const baseUrl = publicUrl ?? findOwnUrl();
  const pages = guides.map(async (guide) => ({
    path: guide.name,
    title: guide.title,
    content: await renderGuide(guide, baseUrl),
  }));
  return await Promise.all(pages);
}
