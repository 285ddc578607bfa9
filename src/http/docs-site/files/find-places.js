/* Finds places of the documentation. The search dialog uses it, and so do the tests. */

/** Words of five letters or more may have a typing error. A number has none. */
const isFuzzy = (term) => (term.length > 4 && !/\d/.test(term) ? 0.2 : false);

const isPartOfCode = /^[a-z]+_[a-z_]*$/;

/**
 * Returns a function that finds the entries for a text, best first. `MiniSearch` is the search engine, and `entries` are
 * those of assets.ts. The name of a place, such as an error code, its status or a synonym, counts most.
 */
export function createFinder(MiniSearch, entries) {
  const engine = new MiniSearch({
    idField: 'address',
    fields: ['title', 'names', 'page', 'text', 'code'],
    storeFields: ['title', 'page', 'text', 'code'],
    searchOptions: {
      boost: { names: 12, title: 10, page: 3, code: 0.3 },
      prefix: (term) => term.length > 1,
      fuzzy: isFuzzy,
      combineWith: 'AND',
      // The top of a guide explains what its sections and the operations only use.
      boostDocument: (address) => (/[#/]/.test(address) ? 1 : 3),
    },
  });
  engine.addAll(entries);
  return (text) => {
    const found = engine.search(text);
    const code = text.trim();
    // A part of an error code is no text of a guide, even if a guide has all its words.
    if (!isPartOfCode.test(code)) return found;
    const named = found.filter(({ title }) => title.startsWith(code));
    return [...named, ...found.filter((place) => !named.includes(place))];
  };
}

const snippetLength = 160;
/** So short that the match is in sight on a phone. */
const lead = 24;

/** Returns the part of an entry around the first match, cut into parts of which each second one is a match. */
export function cutSnippet({ text, code, terms }) {
  const words = terms
    .map((term) => term.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
    .sort((a, b) => b.length - a.length);
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${words.join('|')})(?![\\p{L}\\p{N}])`, 'giu');
  const source = [text, code].find((part) => part.search(pattern) !== -1) ?? text;
  const match = source.search(pattern);
  // From the beginning of a word, but never after the match.
  const start = match <= lead ? 0 : Math.min(source.indexOf(' ', match - lead) + 1 || match, match);
  const cut = source.slice(start, start + snippetLength);
  return `${start === 0 ? '' : '… '}${cut}`.split(pattern);
}
