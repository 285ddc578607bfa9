import { readdir, readFile } from 'node:fs/promises';
import { makeAssets } from '../../http/response/served-file.ts';
import { runInThread } from '../../run-in-thread.ts';

/** The library modules that the pages import by name: the file in the package. */
const modules: ReadonlyMap<string, string> = new Map([
  ['preact', 'preact'],
  ['preact/hooks', 'preact/hooks'],
  ['htm', 'htm'],
  ['htm/preact', 'htm/preact'],
  ['uplot', 'uplot/dist/uPlot.esm.js'],
]);

/** Reads the files and libraries of the console. All URLs are relative, so that it works below any path. */
export async function readConsoleFiles() {
  const scripts = [...(await readPages()), ...(await readLibraries())];
  const assets = await makeAssets({
    ...Object.fromEntries(scripts.map(([name, text]) => [name, addressLibraries(text)])),
    'console.css': await readOwn('pages/console.css'),
    'uplot.css': await readPackage('uplot/dist/uPlot.min.css'),
  });
  const shell = await readOwn('shell.html');
  return { ...assets, shell: shell.replaceAll('{assets}', `./console/assets/${assets.version}`) };
}

type Scripts = readonly (readonly [name: string, text: string])[];

/** Reads the pages, and strips their types. Each keeps its name, because the others import it by this name. */
async function readPages(): Promise<Scripts> {
  const names = await readdir(new URL('pages/', import.meta.url));
  const scripts = names.filter((name) => name.endsWith('.ts')).sort();
  const typed = await Promise.all(scripts.map((name) => readOwn(`pages/${name}`)));
  const stripped = await runInThread<readonly string[]>(new URL('strip-thread.ts', import.meta.url), typed);
  return scripts.map((name, index) => [name, stripped[index] ?? '']);
}

function readLibraries(): Promise<Scripts> {
  const read = async ([name, file]: readonly [string, string]) =>
    [nameModule(name), await readPackage(file)] as const;
  return Promise.all([...modules].map(read));
}

function readOwn(path: string): Promise<string> {
  return readFile(new URL(path, import.meta.url), 'utf8');
}

function readPackage(file: string): Promise<string> {
  return readFile(new URL(import.meta.resolve(file)), 'utf8');
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
