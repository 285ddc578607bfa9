import type { Answer } from './answer.ts';
import { createError } from './errors.ts';
import { findLink } from './links.ts';
import type { ResponseInfo } from './response-info.ts';
import type { CallOptions } from './transport.ts';

export interface Page<T> {
  readonly items: readonly T[];
  /** The `cursor` of the next page. Null on the last page. */
  readonly nextCursor: string | null;
  readonly response: ResponseInfo;
  /**
   * Returns the next page, or null after the last page. By default, the request uses the signal of the call that
   * returned this page.
   */
  next(options?: CallOptions): Promise<Page<T> | null>;
}

/** `path` is the path of the list. `follow` requests the page for the query of a link. */
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
 * Returns the query of the link to the next page, or null without such a link. Throws `unexpected_answer` if the link
 * leads to another path. The rest of the link is ignored, so that the API key is sent only to `baseUrl`.
 */
export function findNext(response: ResponseInfo, list: string): URLSearchParams | null {
  const target = findLink(response.headers, 'next');
  if (target === null) return null;
  const [, path = '', query = ''] = /^([^?#]*)\??([^#]*)/.exec(target) ?? [];
  if (path.endsWith(list)) return new URLSearchParams(query);
  const message = `the link to the next page does not lead to the list: ${path}`;
  throw createError('unexpected_answer', message, response);
}
