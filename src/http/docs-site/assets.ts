import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { makeServedFile, type ServedFile } from '../response/served-file.ts';

/**
 * The source files of each asset. They are joined into one style sheet and one script, because every request counts
 * against the rate limit of readers.
 */
const sources = {
  'site.css': ['page.css', 'guide.css', 'code.css', 'reference.css', 'try-it.css', 'search.css', 'print.css'],
  'site.js': ['theme.js', 'copy.js', 'tabs.js', 'search.js', 'samples.js', 'try-it.js'],
};

/** The script that runs before the page is shown. The others run once the page is complete. */
const earlyScript = 'theme.js';
/** The module whose functions the other scripts share. The service imports it too. */
const sharedScript = 'samples.js';

const types = { css: 'text/css', js: 'text/javascript', json: 'application/json' };

/** The library of the search, which a page loads when it is used first. */
const searchEngine = new URL(import.meta.resolve('minisearch'));

export type AssetName = keyof typeof sources | 'search.json' | 'minisearch.js';

/** Static files for browsers. Their names change with their content. */
export interface Assets {
  /** Returns the file name in the URL of an asset. */
  nameOf(asset: AssetName): string;
  find(name: string): ServedFile | undefined;
}

const hashLength = 12;

/** Reads and compresses all assets. `searchIndex` is the content of `search.json`. */
export async function readAssets(searchIndex: unknown): Promise<Assets> {
  const names = new Map<string, string>();
  const assets = new Map<string, ServedFile>();
  const texts: (readonly [AssetName, string])[] = [
    ['search.json', JSON.stringify(searchIndex)],
    ['minisearch.js', await readFile(searchEngine, 'utf8')],
  ];
  for (const asset of Object.keys(sources) as (keyof typeof sources)[])
    texts.push([asset, await readJoined(sources[asset])]);
  for (const [asset, text] of texts) {
    const name = `${hash('sha256', text, 'hex').slice(0, hashLength)}-${asset}`;
    // Browsers may cache an asset forever, because its name changes with its content.
    const headers = { 'cache-control': 'public, max-age=31536000, immutable' };
    names.set(asset, name);
    assets.set(name, await makeServedFile(text, findType(asset), headers));
  }
  return {
    nameOf: (asset) => names.get(asset) ?? asset,
    find: (name) => assets.get(name),
  };
}

function findType(asset: AssetName): string {
  const [, ending] = asset.split('.') as [string, keyof typeof types];
  return `${types[ending]}; charset=utf-8`;
}

/** Joins files. Each script becomes a function, so that its names stay local. */
async function readJoined(files: readonly string[]): Promise<string> {
  const texts = files.map(async (file) => {
    const text = await readFile(new URL(`files/${file}`, import.meta.url), 'utf8');
    if (file === sharedScript) return text.replaceAll(/^export /gm, '');
    if (file === earlyScript) return `{\n${text}}\n`;
    return file.endsWith('.js')
      ? `document.addEventListener('DOMContentLoaded', () => {\n${text}});\n`
      : text;
  });
  return (await Promise.all(texts)).join('\n');
}
