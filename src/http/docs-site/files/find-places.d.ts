import type MiniSearch from 'minisearch';

/** A place of the documentation: the top of a page, a heading or a field of the reference. */
export interface SearchEntry {
  readonly title: string;
  /** Other words for the place, such as the status of an error code. */
  readonly names: string;
  /** The title of its page. */
  readonly page: string;
  /** The address below `/docs`. */
  readonly address: string;
  readonly text: string;
  /** The text of its samples. */
  readonly code: string;
}

type Found = Pick<SearchEntry, 'title' | 'page' | 'text' | 'code'> & {
  readonly id: string;
  readonly terms: readonly string[];
};

/** Returns a function that finds the entries for a text, best first. */
export function createFinder(
  engine: typeof MiniSearch,
  entries: readonly SearchEntry[],
): (text: string) => readonly Found[];

/** Returns the part of an entry around the first match, cut into parts of which each second one is a match. */
export function cutSnippet(found: Pick<Found, 'text' | 'code' | 'terms'>): readonly string[];
