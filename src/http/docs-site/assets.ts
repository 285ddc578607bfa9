import { readFile } from 'node:fs/promises';
import { type Assets, makeAssets } from '../response/served-file.ts';

const styles = ['page', 'guide', 'code', 'reference', 'try-it', 'search', 'print'];
/** The scripts that run once the page is complete. Each becomes a function, so that its names stay local. */
const lateScripts = ['copy', 'tabs', 'search', 'try-it'];

/**
 * Reads the files of the pages. They are joined into one style sheet and one script, because every request counts
 * against the rate limit of readers. A page loads the search with its index when it is used first.
 */
export async function readAssets(searchIndex: unknown): Promise<Assets> {
  const texts = await Promise.all(styles.map((name) => readOwn(`${name}.css`)));
  const late = lateScripts.map(
    async (name) =>
      `document.addEventListener('DOMContentLoaded', () => {\n${await readOwn(`${name}.js`)}});\n`,
  );
  return makeAssets({
    'site.css': texts.join('\n'),
    'site.js': [
      // This one runs before the page is shown.
      `{\n${await readOwn('theme.js')}}\n`,
      // The other scripts share its functions, and the service imports it too.
      (await readOwn('samples.js')).replaceAll(/^export /gm, ''),
      ...(await Promise.all(late)),
    ].join('\n'),
    'search.json': JSON.stringify(searchIndex),
    'minisearch.js': await readFile(new URL(import.meta.resolve('minisearch')), 'utf8'),
  });
}

function readOwn(file: string): Promise<string> {
  return readFile(new URL(`files/${file}`, import.meta.url), 'utf8');
}
