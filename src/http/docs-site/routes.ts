import { readdir, readFile } from 'node:fs/promises';
import { AppError } from '../../errors.ts';
import { type Answer, jsonType, makeEmptyAnswer, securityHeaders } from '../response/answer.ts';
import {
  chooseForm,
  makeServedFile,
  openOnce,
  pagePolicy,
  type ServedFile,
} from '../response/served-file.ts';
import { type Call, createPageRoute, type Route } from '../route.ts';
import { findRoot } from './frame.ts';
import { guides } from './guides.ts';
import { makeSite, type Site, type SiteOptions } from './site.ts';

export interface DocsOptions extends SiteOptions {
  /** Returns the text of `/openapi.json`. */
  readonly describe: (ownUrl: string) => string;
}

/** The file name of the present tarball of the client. Its version must equal the version in `client/package.json`. */
export const clientPackageName = 'animal-store-client-1.2.0.tgz';
const clientPackages = new URL('../../../client/package/', import.meta.url);

/**
 * Returns the routes of the documentation. They need no key. The pages are rendered at the first request, so that the
 * service starts fast.
 */
export function createDocsRoutes(options: DocsOptions): readonly Route[] {
  const { publicUrl } = options;
  const pageSecurity = securityHeaders(
    pagePolicy(true, publicUrl === null ? [] : [new URL(publicUrl).origin]),
  );
  const openSite = openOnce(() => makeSite(options));
  const openDescription = openOnce(() =>
    makeServedFile(options.describe(options.findOwnUrl()), jsonType, {
      'cache-control': 'private, no-cache',
    }),
  );

  function page(path: string, choose: (site: Site, call: Call) => Found | Promise<Found>): Route {
    return createPageRoute(path, 'reader', pageSecurity, async (call) => {
      const found = await choose(await openSite(), call);
      return 'plain' in found ? chooseForm(found, call.headers['accept-encoding']) : found;
    });
  }

  return [
    createPageRoute('/openapi.json', 'reader', null, async ({ headers }) =>
      chooseForm(await openDescription(), headers['accept-encoding']),
    ),
    page('/', ({ welcome }) => welcome),
    page('/llms.txt', ({ list }) => list),
    page('/docs/changelog.atom', ({ feed }) => feed),
    page('/docs', (site) => findPage(site, '')),
    page('/docs/', () => makeEmptyAnswer(301, ['location', '../docs'])),
    page('/docs/*', (site, { params }) => findPage(site, params['*'] || 'none')),
    page(
      '/docs/assets/{file}',
      ({ assets, notFound }, { params }) => assets.find(params['file'] ?? '') ?? notFound(2),
    ),
    page(
      '/docs/client/{file}',
      async ({ notFound }, { params }) => (await sendClientPackage(params['file'] ?? '')) ?? notFound(2),
    ),
  ];
}

/** What a path leads to. A file is sent plain or compressed. */
type Found = Answer | ServedFile;

/** Maximum number of folders in the path of a 404 page. Each folder makes all links of the page longer. */
const foldersMax = 10;

/**
 * Returns a page, a redirect to a page, or a 404 page. A redirect answers a path with a slash at its end, and the name of
 * a document whose page has another name. Throws `not_found` if the path has too many folders for a 404 page.
 */
function findPage({ pages, notFound }: Site, path: string): Found {
  const page = pages.get(path);
  if (page !== undefined) return page;
  const trimmed = path.replace(/\/$/, '');
  const document = guides.find((guide) => guide.path.endsWith(`/${trimmed}.md`));
  const target = document?.name ?? trimmed;
  if (pages.has(target)) return makeEmptyAnswer(301, ['location', `${findRoot(path)}/docs/${target}`]);
  const folders = path.split('/').length;
  if (folders > foldersMax) throw new AppError('not_found', 'no such page');
  return notFound(folders);
}

/**
 * Returns a tarball of the client: of any release, or the present one under a name that stays. Returns null for any
 * other name. The tarballs are committed, so that a start needs no compiler. `npm run client:pack` builds the present
 * one.
 */
async function sendClientPackage(name: string): Promise<Answer | null> {
  const file = name === 'animal-store-client.tgz' ? clientPackageName : name;
  if (!(await readdir(clientPackages)).includes(file)) return null;
  const body = await readFile(new URL(file, clientPackages));
  const bodyHeaders = ['content-type', 'application/gzip', 'content-length', String(body.length)];
  return { status: 200, headers: ['cache-control', 'no-cache'], bodyHeaders, body, etag: null };
}
