import type { Answer } from './answer.ts';
import { AnimalStoreError } from './errors.ts';
import { findLink } from './links.ts';
import type { ResponseInfo } from './response-info.ts';
import type { CallOptions } from './transport.ts';

/** A part of a list, the newest first. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Where the next page begins, for a `list` at another time; null on the last page. */
  readonly nextCursor: string | null;
  readonly response: ResponseInfo;
  /** The next page; null after the last. It takes the signal of the first page unless it is given one. */
  next(options?: CallOptions): Promise<Page<T> | null>;
}

/** `path` is that of the list; `follow` asks for the page that a query of a link leads to. */
export function createPage<T>(
  { value, response }: Answer<readonly T[]>,
  path: string,
  follow: (query: string, options: CallOptions | undefined) => Promise<Page<T>>,
): Page<T> {
  const next = findNext(response, path);
  return {
    items: value,
    nextCursor: next?.get('cursor') ?? null,
    response,
    next: async (options) => (next === null ? null : await follow(`?${next}`, options)),
  };
}

/**
 * The query of the link to the next page; null without one. Only the query is taken: the request goes to the base
 * address that the client was given, wherever the link leads, and so does the key.
 */
export function findNext(response: ResponseInfo, list: string): URLSearchParams | null {
  const target = findLink(response.headers, 'next');
  if (target === null) return null;
  const [, path = '', query = ''] = /^([^?#]*)\??([^#]*)/.exec(target) ?? [];
  if (path.endsWith(list)) return new URLSearchParams(query);
  const message = `the link to the next page leads to no list: ${path}`;
  throw new AnimalStoreError('unexpected_answer', message, response);
}
