import { readFile } from 'node:fs/promises';
import type { Asset } from './assets.ts';

/** The version of the client in this release. `client/package.json` has it too. */
const version = '1.1.0';

/** The name of the client's tarball, in npm's form. */
export const clientPackageName = `animal-store-client-${version}.tgz`;

/**
 * Reads the tarball of the client. `npm run client:pack` builds it and the repository keeps it, so a start needs no
 * compiler.
 */
export async function readClientPackage(): Promise<Asset> {
  const file = new URL(`../../../client/package/${clientPackageName}`, import.meta.url);
  const plain = await readFile(file);
  return { type: 'application/gzip', plain, gzipped: plain };
}
