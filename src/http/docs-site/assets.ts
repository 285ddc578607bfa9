import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** A static file for browsers. Its name changes with its content. */
export interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

/**
 * The source files of each asset. They are joined into one style sheet and one script, because every request counts
 * against the rate limit of readers.
 */
const sources = {
  'site.css': ['page.css', 'guide.css', 'reference.css', 'try-it.css', 'search.css', 'print.css'],
  'site.js': ['copy.js', 'tabs.js', 'search.js', 'try-it.js'],
};

const types = { css: 'text/css', js: 'text/javascript', json: 'application/json' };

export type AssetName = keyof typeof sources | 'search.json';

export interface Assets {
  /** Returns the file name in the URL of an asset. */
  nameOf(asset: AssetName): string;
  find(name: string): Asset | undefined;
}

const compress = promisify(gzip);
const hashLength = 12;

/** Reads and compresses all assets. `searchIndex` is the content of `search.json`. */
export async function readAssets(searchIndex: unknown): Promise<Assets> {
  const names = new Map<string, string>();
  const assets = new Map<string, Asset>();
  const texts: (readonly [AssetName, string])[] = [['search.json', JSON.stringify(searchIndex)]];
  for (const asset of Object.keys(sources) as (keyof typeof sources)[])
    texts.push([asset, await readJoined(sources[asset])]);
  for (const [asset, text] of texts) {
    const plain = Buffer.from(text);
    const name = `${hash('sha256', plain, 'hex').slice(0, hashLength)}-${asset}`;
    names.set(asset, name);
    assets.set(name, { type: findType(asset), plain, gzipped: await compress(plain) });
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

/** Joins files. Each script becomes a block, so that its names stay local. */
async function readJoined(files: readonly string[]): Promise<string> {
  const texts = files.map(async (file) => {
    const text = await readFile(new URL(`files/${file}`, import.meta.url), 'utf8');
    return file.endsWith('.js') ? `{\n${text}}\n` : text;
  });
  return (await Promise.all(texts)).join('\n');
}
