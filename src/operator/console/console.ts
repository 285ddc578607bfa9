import { readdir, readFile } from 'node:fs/promises';
import { AppError } from '../../errors.ts';
import { makeEmptyAnswer, makeTaggedAnswer, securityHeaders } from '../../http/response/answer.ts';
import { chooseForm, makeAssets, openOnce, pagePolicy } from '../../http/response/served-file.ts';
import { createPageRoute, type Route } from '../../http/route.ts';
import { consolePath, type Sessions } from '../sessions.ts';
import { accountOperations } from './api/accounts.ts';
import { animalOperations } from './api/animals.ts';
import { serviceOperations } from './api/service.ts';
import { webhookOperations } from './api/webhooks.ts';
import { bindConsoleOperation, type ConsoleServices } from './operation.ts';
import { createConsoleGate, createSignInRoutes } from './sign-in.ts';

export const consoleOperations = [
  ...serviceOperations,
  ...accountOperations,
  ...animalOperations,
  ...webhookOperations,
];

export type Console = ReturnType<typeof buildConsole>;

/** Builds the web console. `consoleUrl` is the setting `CONSOLE_URL`, or null. */
export function buildConsole(
  services: ConsoleServices & { readonly sessions: Sessions },
  consoleUrl: string | null,
) {
  return {
    gate: createConsoleGate(services.sessions, consoleUrl),
    routes: [
      ...createPageRoutes(),
      ...createSignInRoutes(services.sessions, consoleUrl),
      ...consoleOperations.map((operation) => bindConsoleOperation(operation, services)),
    ],
  };
}

const pageHeaders = [
  ...securityHeaders(pagePolicy()),
  ...['referrer-policy', 'no-referrer'],
  ...['cross-origin-opener-policy', 'same-origin'],
  ...['cross-origin-resource-policy', 'same-origin'],
];

/** The page and its files contain no secrets, so visitors may load them without a session. */
function createPageRoutes(): Route[] {
  const open = openOnce(readConsoleFiles);
  const page = (path: string, answer: Parameters<typeof createPageRoute>[3]) =>
    createPageRoute(path, 'visitor', pageHeaders, answer);

  return [
    page(consolePath, async () => makeTaggedAnswer((await open()).shell, [], 'text/html; charset=utf-8')),
    page(`${consolePath}/`, () => makeEmptyAnswer(301, ['location', '../console'])),
    page(`${consolePath}/assets/{version}/{file}`, async ({ params, headers }) => {
      const { version, files } = await open();
      const asset = files.get(params['file'] ?? '');
      if (asset === undefined || params['version'] !== version)
        throw new AppError('not_found', 'no such file');
      return chooseForm(asset, headers['accept-encoding']);
    }),
  ];
}

/** The library modules that the pages import by name: the file in the package. */
const modules: ReadonlyMap<string, string> = new Map([
  ['preact', 'preact'],
  ['preact/hooks', 'preact/hooks'],
  ['htm', 'htm'],
  ['uplot', 'uplot/dist/uPlot.esm.js'],
]);
const ownFiles = new URL('pages/', import.meta.url);

/** Reads the files and libraries of the console. All URLs are relative, so that it works below any path. */
async function readConsoleFiles() {
  const resolve = (file: string) => new URL(import.meta.resolve(file));
  const files = [
    ...(await readdir(ownFiles)).sort().map((name) => [name, new URL(name, ownFiles)] as const),
    ...Array.from(modules, ([name, file]) => [nameModule(name), resolve(file)] as const),
    ['uplot.css', resolve('uplot/dist/uPlot.min.css')] as const,
  ];
  const texts = files.map(async ([name, url]) => [name, addressLibraries(await readFile(url, 'utf8'))]);
  const assets = await makeAssets(Object.fromEntries(await Promise.all(texts)));
  const shell = await readFile(new URL('shell.html', import.meta.url), 'utf8');
  return { ...assets, shell: shell.replaceAll('{assets}', `./console/assets/${assets.version}`) };
}

function nameModule(name: string): string {
  return `${name.replace('/', '-')}.js`;
}

/** Replaces the names of libraries by URLs, and removes the URLs of source maps, which are not served. */
function addressLibraries(text: string): string {
  return text
    .replaceAll(/(\bfrom\s*)(["'])([^"']+)\2/g, (whole, from, quote, name) =>
      modules.has(name) ? `${from}${quote}./${nameModule(name)}${quote}` : whole,
    )
    .replace(/^\/\/# sourceMappingURL=.*$/m, '');
}
