import type { Answer } from './answer.ts';
import { createError } from './errors.ts';
import { findLink } from './links.ts';
import type { ResponseInfo } from './response-info.ts';
import type { CallOptions } from './transport.ts';

/** A page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** The cursor of the next page, for a later `list`. Null on the last page. */
  readonly nextCursor: string | null;
  readonly response: ResponseInfo;
  /** The next page, or null after the last. It uses the signal of the first page by default. */
  next(options?: CallOptions): Promise<Page<T> | null>;
}

/** Creates a page. `path` is the path of the list. `follow` gets the page for the query of a link. */
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
 * The query of the link to the next page, or null. Only the query is used: the request and its key always go to the
 * client's base address, wherever the link leads.
 */
export function findNext(response: ResponseInfo, list: string): URLSearchParams | null {
  const target = findLink(response.headers, 'next');
  if (target === null) return null;
  const [, path = '', query = ''] = /^([^?#]*)\??([^#]*)/.exec(target) ?? [];
  if (path.endsWith(list)) return new URLSearchParams(query);
  const message = `the link to the next page does not lead to the list: ${path}`;
  throw createError('unexpected_answer', message, response);
}
