import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** A file for browsers, whose name changes with its content. */
export interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

/** What each is made of; a page needs one style sheet and at most one script, as each request is counted. */
const sources = {
  'guide.css': ['files/page.css'],
  'reference.css': ['swagger-ui-dist/swagger-ui.css', 'files/page.css', 'files/reference.css'],
  'reference.js': ['swagger-ui-dist/swagger-ui-bundle.js', 'files/reference.js'],
};

export type AssetName = keyof typeof sources;

export interface Assets {
  /** Under what name an asset is served. */
  nameOf(asset: AssetName): string;
  find(name: string): Asset | undefined;
}

const compress = promisify(gzip);
const hashLength = 12;

export async function readAssets(): Promise<Assets> {
  const names = new Map<string, string>();
  const assets = new Map<string, Asset>();
  for (const [asset, files] of Object.entries(sources)) {
    const plain = Buffer.from(await readJoined(files));
    const name = `${hash('sha256', plain, 'hex').slice(0, hashLength)}-${asset}`;
    const type = asset.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
    names.set(asset, name);
    assets.set(name, { type, plain, gzipped: await compress(plain) });
  }
  return {
    nameOf: (asset) => names.get(asset) ?? asset,
    find: (name) => assets.get(name),
  };
}

/** Without the addresses of source maps, which are not served. */
async function readJoined(files: readonly string[]): Promise<string> {
  const texts = await Promise.all(files.map((file) => readFile(locate(file), 'utf8')));
  return texts.map((text) => text.replace(/^(?:\/\/|\/\*)# sourceMappingURL=.*$/m, '')).join('\n');
}

/** Ours stand beside this file, the others in their package. */
function locate(file: string): URL {
  return file.startsWith('files/') ? new URL(file, import.meta.url) : new URL(import.meta.resolve(file));
}
