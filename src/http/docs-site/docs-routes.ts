import { createPageRoute } from '../page-route.ts';
import { takesGzip } from '../request/accept-encoding.ts';
import { type Answer, makeAnswer, makeEmptyAnswer, makeTaggedAnswer } from '../response/answer.ts';
import { toLines } from '../response/header-lines.ts';
import { securityLines } from '../response/security-headers.ts';
import type { Call, Route } from '../route.ts';
import { type Asset, type Assets, readAssets } from './assets.ts';
import { guides, renderGuide } from './guides.ts';
import { notFoundPage, reference, renderPage, welcomePage } from './layout.ts';

export interface DocsOptions {
  readonly publicUrl: string | null;
  /** The base address as this machine reaches it; known once the server listens. */
  readonly findOwnUrl: () => string;
  /** The text of `/openapi.json`. */
  readonly description: string;
}

const htmlType = 'text/html; charset=utf-8';

interface Site {
  /** The pages by their addresses below `/docs/`; the reference has the empty one. */
  readonly pages: ReadonlyMap<string, Answer>;
  readonly welcome: Answer;
  /** For a page that is so many folders below `/docs`. */
  notFound(depth: number): Answer;
  readonly assets: Assets;
}

/** The routes of the documentation, which need no key. The pages are made at the first visit: the start pays nothing. */
export function createDocsRoutes(options: DocsOptions): readonly Route[] {
  const pageSecurity = securityLines(createPolicy(options.publicUrl));
  const description = makeTaggedAnswer(options.description);
  let opened: Promise<Site> | null = null;

  function openSite(): Promise<Site> {
    opened ??= makeSite(options).catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  }

  function page(path: string, choose: (site: Site, call: Call) => Answer): Route {
    return createPageRoute(path, 'reader', pageSecurity, async (call) => choose(await openSite(), call));
  }
  const findPage = ({ pages, notFound }: Site, name = '') => pages.get(name) ?? notFound(1);

  return [
    createPageRoute('/openapi.json', 'reader', null, () => description),
    page('/', ({ welcome }) => welcome),
    page('/docs', (site) => findPage(site)),
    page('/docs/', () => makeEmptyAnswer(301, { location: '../docs' })),
    page('/docs/{page}', (site, { params }) => findPage(site, params['page'] || 'none')),
    page('/docs/*', ({ notFound }, { params }) => notFound((params['*'] ?? '').split('/').length)),
    page('/docs/assets/{file}', ({ assets, notFound }, { params, headers }) => {
      const asset = assets.find(params['file'] ?? '');
      return asset === undefined ? notFound(2) : sendAsset(asset, headers['accept-encoding'] ?? '');
    }),
  ];
}

/**
 * What a page may do: run our scripts, use our styles, call this service, also under the origin that clients see. Nothing
 * inline, nothing from elsewhere, no frame around it. Images from `data:` are the icons of the style sheets.
 */
function createPolicy(publicUrl: string | null): string {
  const origins = publicUrl === null ? [] : [new URL(publicUrl).origin];
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ["connect-src 'self'", ...origins].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

async function makeSite({ publicUrl, findOwnUrl }: DocsOptions): Promise<Site> {
  const assets = await readAssets();
  const baseUrl = publicUrl ?? findOwnUrl();
  const lines = toLines({ 'referrer-policy': 'no-referrer' });
  const contents = guides.map(async (guide) => ({ ...guide, content: await renderGuide(guide, baseUrl) }));
  const pages = [reference, ...(await Promise.all(contents))].map(
    (page) => [page.name, makeTaggedAnswer(renderPage(page, assets), lines, htmlType)] as const,
  );
  return {
    pages: new Map(pages),
    welcome: makeTaggedAnswer(renderPage(welcomePage, assets), lines, htmlType),
    notFound(depth) {
      const root = Array(depth).fill('..').join('/');
      return makeAnswer(404, renderPage(notFoundPage, assets, root), lines, htmlType);
    },
    assets,
  };
}

/** The name of an asset changes with its content, so a browser never asks for it again. */
function sendAsset({ type, plain, gzipped }: Asset, acceptEncoding: string): Answer {
  const isGzipped = takesGzip(acceptEncoding);
  const body = isGzipped ? gzipped : plain;
  const lines = toLines({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'Accept-Encoding' });
  const bodyLines = toLines({
    'content-type': type,
    'content-length': String(body.length),
    ...(isGzipped && { 'content-encoding': 'gzip' }),
  });
  return { status: 200, lines, bodyLines, body, etag: null };
}
