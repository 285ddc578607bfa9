import { readFile } from 'node:fs/promises';
import { errorCodes, errorStatus } from '../../errors.ts';
import { type Assets, makeAssets } from '../response/served-file.ts';
import { codeBlock } from './code.ts';
import type { SearchEntry } from './files/find-places.js';
import type { Page } from './frame.ts';
import { toText } from './markup.ts';

const styles = ['page', 'guide', 'code', 'reference', 'try-it', 'search', 'print'];
/** The scripts that run once the page is complete. Each becomes a function, so that its names stay local. */
const sharedScripts = ['samples.js', 'find-places.js'];
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
      // The other scripts share the functions of these. The service imports them, or a test does.
      ...(await Promise.all(sharedScripts.map(readOwn))).map((text) => text.replaceAll(/^export /gm, '')),
      ...late.map((text) => `document.addEventListener('DOMContentLoaded', () => {\n${text}});\n`),
    ].join('\n'),
    'search.json': JSON.stringify(pages.flatMap(indexPage)),
    'minisearch.js': await readFile(new URL(import.meta.resolve('minisearch')), 'utf8'),
  });
}

function readOwn(file: string): Promise<string> {
  return readFile(new URL(`files/${file}`, import.meta.url), 'utf8');
}

/** Matches a heading with an anchor, the title of a page, or a field of the reference. */
const places = /<h1>|<(?:h[23]|li) id="([^"]*)">/g;
const titleEnd = /<\/h[123]>|<\/code>/;
/** The badge of a heading. */
const marks = /<span class="mark [^"]*">[^<]*<\/span>/g;
/** The examples of responses, which repeat the fields and the errors below them. */
const responses = /<section aria-label="Example response">.*?<\/section>/gs;

/** Returns a search entry for every heading and field of a page, with its address below `/docs`. */
function indexPage({ path, title, searchWords = '', content }: Page): SearchEntry[] {
  const markup = content.markup.replaceAll(responses, '');
  const found = [...markup.matchAll(places)];
  return found.map(({ index, 1: anchor }, place) => {
    const part = markup.slice(index, found[place + 1]?.index);
    const [named = '', ...others] = part.replaceAll(codeBlock, ' ').split(titleEnd);
    return {
      title: toLine(named.replaceAll(marks, '')),
      names: anchor === undefined ? searchWords : nameSection(path, anchor),
      page: title,
      address: anchor === undefined ? path : `${path}#${anchor}`,
      text: toLine(others.join(' ')),
      code: Array.from(part.matchAll(codeBlock), ([, , , code = '']) => toLine(code)).join(' '),
    };
  });
}

/** The words that readers type who look for a section, if its heading does not have them. */
const sectionWords: ReadonlyMap<string, string> = new Map([
  ['webhooks#receive-and-verify', 'signature'],
  ['webhooks#verify-without-a-library', 'signature'],
]);

/** Returns other words for a section. That of an error has its status. */
function nameSection(path: string, anchor: string): string {
  const code = path === 'errors' && errorCodes.find((known) => known === anchor);
  return code ? String(errorStatus[code]) : (sectionWords.get(`${path}#${anchor}`) ?? '');
}

/** Returns the text of several elements on one line. */
function toLine(markup: string): string {
  return toText(markup.replaceAll('<', ' <')).replaceAll(/\s+/g, ' ').trim();
}
