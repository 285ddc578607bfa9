import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { makeServedFile, type ServedFile } from '../../http/response/served-file.ts';

/** The library modules that the pages import. `file` is the module in the package, `servedAs` the name in the URL. */
const modules: ReadonlyMap<string, { readonly file: string; readonly servedAs: string }> = new Map([
  ['preact', { file: 'preact', servedAs: 'preact.js' }],
  ['preact/hooks', { file: 'preact/hooks', servedAs: 'preact-hooks.js' }],
  ['htm', { file: 'htm', servedAs: 'htm.js' }],
  ['uplot', { file: 'uplot/dist/uPlot.esm.js', servedAs: 'uplot.js' }],
]);
const styles = { file: 'uplot/dist/uPlot.min.css', servedAs: 'uplot.css' };

const versionLength = 12;
const ownFiles = new URL('pages/', import.meta.url);

/**
 * Reads the files of the console and its libraries. There is no build step. `addressLibraries` makes the only changes.
 * The version is a part of every URL. It changes with the content of any file, so that browsers may cache the files
 * forever.
 */
export async function readConsoleAssets() {
  const names = (await readdir(ownFiles)).filter((name) => /\.(?:js|css)$/.test(name)).sort();
  const own = names.map(async (name) => [name, await readFile(new URL(name, ownFiles), 'utf8')] as const);
  const others = [...modules.values(), styles].map(
    async ({ file, servedAs }) =>
      [servedAs, await readFile(new URL(import.meta.resolve(file)), 'utf8')] as const,
  );
  const texts = await Promise.all([...own, ...others]);
  const assets = new Map<string, ServedFile>();
  const whole: string[] = [];
  for (const [name, text] of texts) {
    const served = name.endsWith('.js') ? addressLibraries(text) : text;
    const type = name.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
    const headers = { 'cache-control': 'private, max-age=31536000, immutable' };
    assets.set(name, await makeServedFile(served, type, headers));
    whole.push(name, served);
  }
  const version = hash('sha256', whole.join('\n'), 'hex').slice(0, versionLength);
  return { version, find: (name: string) => assets.get(name) };
}

/**
 * Replaces the names of libraries in imports with URLs. Removes the URLs of source maps, because source maps are not
 * served.
 */
function addressLibraries(text: string): string {
  return text
    .replaceAll(/(\bfrom\s*)(["'])([^"']+)\2/g, (whole, from, quote, name) => {
      const module = modules.get(name);
      return module === undefined ? whole : `${from}${quote}./${module.servedAs}${quote}`;
    })
    .replace(/^\/\/# sourceMappingURL=.*$/m, '');
}
