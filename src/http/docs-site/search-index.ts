import type { Page } from './frame.ts';
import { toText } from './markup.ts';

/** Maximum number of characters of an entry's text. */
const textLengthMax = 2_000;
/** Matches a heading with an anchor, the title of a page, or a field of the reference. */
const places = /<h1>|<h[23] id="([^"]*)">|<li id="([^"]*)">/g;
const titleEnd = /<\/h[123]>|<\/code>/;

/**
 * Returns an entry for every heading and field of the pages, with the title of its page, its address below `/docs`, such as
 * `errors#gone`, and the text after it.
 */
export function indexPages(pages: readonly Page[]) {
  return pages.flatMap(({ path, title, content }) => {
    const found = [...content.markup.matchAll(places)];
    return found.map((match, index) => {
      const [, heading, field] = match;
      const anchor = heading ?? field;
      const section = content.markup.slice(match.index, found[index + 1]?.index);
      const [named = '', ...others] = section.split(titleEnd);
      return {
        title: toLine(named),
        page: title,
        address: anchor === undefined ? path : `${path}#${anchor}`,
        text: toLine(others.join(' ')).slice(0, textLengthMax),
      };
    });
  });
}

/** Returns the text of several elements on one line. */
function toLine(markup: string): string {
  return toText(markup.replaceAll('<', ' <')).replaceAll(/\s+/g, ' ').trim();
}
