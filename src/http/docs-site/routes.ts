import { readdir, readFile } from 'node:fs/promises';
import { AppError } from '../../errors.ts';
import { describeApi } from '../openapi/description.ts';
import { type Answer, jsonType, makeEmptyAnswer, securityHeaders } from '../response/answer.ts';
import {
  chooseForm,
  makeServedFile,
  openOnce,
  pagePolicy,
  type ServedFile,
} from '../response/served-file.ts';
import { createPageRoute, type Route } from '../route.ts';
import { addressOf, findRoot } from './frame.ts';
import { guides } from './guides.ts';
import { makeSite, type Site, type SiteOptions } from './site.ts';

/** The file name of the present tarball of the TypeScript client. Its version is that in `client/package.json`. */
export const clientPackageName = 'animal-store-client-1.3.0.tgz';
/** The file names of the present packages of the Python client. Their version is that in `client-python/pyproject.toml`. */
export const pythonPackageNames = {
  wheel: 'animal_store-1.0.0-py3-none-any.whl',
  source: 'animal_store-1.0.0.tar.gz',
};
/** The names that always lead to the newest version. pip reads the version of a wheel from its name, so none leads to it. */
const stableNames = new Map([
  ['animal-store-client.tgz', clientPackageName],
  ['animal_store.tar.gz', pythonPackageNames.source],
]);
const packageFolders = ['client/package/', 'client-python/package/'].map(
  (folder) => new URL(`../../../${folder}`, import.meta.url),
);

/** How long a request waits for the pages. It is shorter than a silent connection lasts (`untakenMs`). */
export const openMsMax = 30_000;

const pagePaths = ['/', '/llms.txt', '/llms-full.txt', '/docs', '/docs/*'];

/** Returns the routes of the documentation. The first request renders the pages, so that the start is fast. */
export function createDocsRoutes(options: SiteOptions): readonly Route[] {
  const { operations, publicUrl, findOwnUrl } = options;
  const pageSecurity = securityHeaders(pagePolicy(publicUrl === null ? [] : [new URL(publicUrl).origin]));
  const makeOnce = openOnce(() => makeSite(options));
  const openSite = openOnce(() => Promise.race([makeOnce(), refuseLate()]));
  const openDescription = openOnce(() =>
    makeServedFile(describeApi(operations, publicUrl, findOwnUrl()), jsonType, {
      'cache-control': 'private, no-cache',
    }),
  );

  return [
    createPageRoute('/openapi.json', 'reader', null, async ({ headers }) =>
      chooseForm(await openDescription(), headers['accept-encoding']),
    ),
    ...pagePaths.map((path) =>
      createPageRoute(path, 'reader', pageSecurity, async ({ params, headers }) => {
        const address = path.replace('*', () => params['*'] ?? '');
        const site = await openSite();
        const file =
          (prefersMarkdown(headers.accept) && findMarkdown(site, address)) || site.files.get(address);
        return file === undefined ? redirect(site, address) : chooseForm(file, headers['accept-encoding']);
      }),
    ),
    createPageRoute('/docs/client/{file}', 'reader', pageSecurity, async ({ params: { file = '' } }) => {
      const { notFound } = await openSite();
      return (await sendClientPackage(file)) ?? notFound(`/docs/client/${file}`);
    }),
  ];
}

/** Returns true if a client accepts Markdown, and HTML no more than it. */
function prefersMarkdown(accept = ''): boolean {
  const weigh = (type: string) => {
    const part = accept.split(',').find((one) => one.trim().toLowerCase().startsWith(type));
    return part === undefined ? 0 : Number(/;\s*q=([\d.]+)/i.exec(part)?.[1] ?? 1);
  };
  const weight = weigh('text/markdown');
  return weight > 0 && weight >= weigh('text/html');
}

/** Returns the Markdown of the page at an address, if it has one. */
function findMarkdown({ files }: Site, address: string): ServedFile | undefined {
  return files.get(address === '/docs' ? '/docs/index.md' : `${address}.md`);
}

/** Throws `unavailable` after `openMsMax`. The pages are still made, so a later request gets them. */
function refuseLate(): Promise<never> {
  const failure = new AppError('unavailable', 'the documentation is not ready yet; try again');
  return new Promise((_, reject) => setTimeout(reject, openMsMax, failure).unref());
}

/** Maximum number of folders in the address of a 404 page. Each folder makes all links of the page longer. */
const foldersMax = 10;

/**
 * Returns a redirect to a page, or a 404 page. A redirect answers `/`, an address with a slash at its end, and the name of
 * a document whose page has another name. Throws `not_found` if the address has too many folders for a 404 page.
 */
function redirect({ files, notFound }: Site, address: string): Answer {
  const trimmed = address === '/' ? '/docs' : address.replace(/\/$/, '');
  const document = guides.find(({ path }) => trimmed === `/${path.replace(/\.md$/, '')}`);
  const target = document === undefined ? trimmed : addressOf(document.name);
  if (files.has(target)) return makeEmptyAnswer(301, ['location', findRoot(address) + target]);
  if (address.split('/').length - 2 > foldersMax) throw new AppError('not_found', 'no such page');
  return notFound(address);
}

/** Returns a package of a client: of any release, or the present one. Null for any other name. */
async function sendClientPackage(name: string): Promise<Answer | null> {
  const file = stableNames.get(name) ?? name;
  for (const folder of packageFolders) {
    if (!(await readdir(folder)).includes(file)) continue;
    const body = await readFile(new URL(file, folder));
    const type = file.endsWith('.whl') ? 'application/zip' : 'application/gzip';
    const bodyHeaders = ['content-type', type, 'content-length', String(body.length)];
    return { status: 200, headers: ['cache-control', 'no-cache'], bodyHeaders, body, etag: null };
  }
  return null;
}
