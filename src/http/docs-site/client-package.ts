import { readFile } from 'node:fs/promises';
import type { Asset } from './assets.ts';

/** Version of the client in this release. It must equal the version in `client/package.json`. */
const version = '1.1.0';

/** File name of the client's tarball, as `npm pack` writes it. */
export const clientPackageName = `animal-store-client-${version}.tgz`;

/**
 * Reads the tarball of the client. `npm run client:pack` builds the tarball. It is committed, so that a start needs no
 * compiler.
 */
export async function readClientPackage(): Promise<Asset> {
  const file = new URL(`../../../client/package/${clientPackageName}`, import.meta.url);
  const plain = await readFile(file);
  return { type: 'application/gzip', plain, gzipped: plain };
}
