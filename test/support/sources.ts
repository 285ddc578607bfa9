import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const source = join(import.meta.dirname, '../../src');

export interface Source {
  /** Path below `src/`. */
  readonly file: string;
  readonly text: string;
}

/** Reads all TypeScript and JavaScript files below `src/`, sorted by path. */
export async function readSources(): Promise<Source[]> {
  const entries = await readdir(source, { recursive: true });
  const files = entries.filter((file) => /\.[jt]s$/.test(file)).sort();
  return Promise.all(files.map(async (file) => ({ file, text: await readFile(join(source, file), 'utf8') })));
}
