import { readFile } from 'node:fs/promises';
import { type Assets, makeAssets } from '../response/served-file.ts';
import type { Page } from './frame.ts';
import { toText } from './markup.ts';

const styles = ['page', 'guide', 'code', 'reference', 'try-it', 'search', 'print'];
/** The scripts that run once the page is complete. Each becomes a function, so that its names stay local. */
const lateScripts = ['copy', 'tabs', 'search', 'try-it'];

/** Joins the files of the pages into one style sheet and one script, because readers have a rate limit. */
export async function readAssets(pages: readonly Page[]): Promise<Assets> {
  const css = await Promise.all(styles.map((name) => readOwn(`${name}.css`)));
  const late = await Promise.all(lateScripts.map((name) => readOwn(`${name}.js`)));
  return makeAssets({
    'site.css': css.join('\n'),
    'site.js': [
      // This one runs before the page is shown.
      `{\n${await readOwn('theme.js')}}\n`,
      // The other scripts share its functions, and the service imports it too.
      (await readOwn('samples.js')).replaceAll(/^export /gm, ''),
      ...late.map((text) => `document.addEventListener('DOMContentLoaded', () => {\n${text}});\n`),
    ].join('\n'),
    'search.json': JSON.stringify(pages.flatMap(indexPage)),
    'minisearch.js': await readFile(new URL(import.meta.resolve('minisearch')), 'utf8'),
  });
}

function readOwn(file: string): Promise<string> {
  return readFile(new URL(`files/${file}`, import.meta.url), 'utf8');
}

const textLengthMax = 2_000;
/** Matches a heading with an anchor, the title of a page, or a field of the reference. */
const places = /<h1>|<(?:h[23]|li) id="([^"]*)">/g;
const titleEnd = /<\/h[123]>|<\/code>/;

/** Returns a search entry for every heading and field of a page, with its address below `/docs`. */
function indexPage({ path, title, content: { markup } }: Page) {
  const found = [...markup.matchAll(places)];
  return found.map(({ index, 1: anchor }, place) => {
    const [named = '', ...others] = markup.slice(index, found[place + 1]?.index).split(titleEnd);
    return {
      title: toLine(named),
      page: title,
      address: anchor === undefined ? path : `${path}#${anchor}`,
      text: toLine(others.join(' ')).slice(0, textLengthMax),
    };
  });
}

/** Returns the text of several elements on one line. */
function toLine(markup: string): string {
  return toText(markup.replaceAll('<', ' <')).replaceAll(/\s+/g, ' ').trim();
}
