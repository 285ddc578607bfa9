import { readCallOptions, writeQuery } from './call.ts';
import { createError } from './errors.ts';
import { findLink } from './links.ts';
import { operations } from './operations.ts';
import type { ResponseInfo } from './response-info.ts';
import type { CallOptions, Transport } from './transport.ts';

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

/** The options of every list. */
interface PageOptions extends CallOptions {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

type ListOperation = 'listPets' | 'listCategories' | 'listOrders' | 'listKeys' | 'listWebhooks';

interface ListParts<T, Options> {
  readonly isItem: (value: unknown) => value is T;
  /** Returns the parameters of the query, without `limit` and `cursor`. By default, there are none. */
  readonly readFilters?: (options: Partial<Options>) => Parameters<typeof writeQuery>[0];
  /** Converts each item. By default, items stay as they are. */
  readonly convert?: (item: T) => T;
}

/** Creates the methods that return one page and that yield all items. */
export function createLists<T, Options extends PageOptions>(
  send: Transport,
  operation: ListOperation,
  { isItem, readFilters = () => ({}), convert }: ListParts<T, Options>,
) {
  const { path } = operations[operation];
  const isExpected = (value: unknown): value is readonly T[] => Array.isArray(value) && value.every(isItem);

  async function getPage(query: string, options: CallOptions): Promise<Page<T>> {
    const { value, response } = await send({ operation, path: path + query, isExpected }, options);
    const next = findNext(response, path);
    return {
      items: convert === undefined ? value : value.map(convert),
      nextCursor: next?.get('cursor') ?? null,
      response,
      next: async (own) =>
        next === null ? null : getPage(`?${next}`, { signal: own?.signal ?? options.signal }),
    };
  }

  async function list(options?: Options): Promise<Page<T>> {
    const given = readCallOptions(options);
    const { limit, cursor, signal } = given;
    return getPage(writeQuery({ limit, ...readFilters(given), cursor }), { signal });
  }

  async function* listAll(options?: Omit<Options, 'cursor'>): AsyncGenerator<T, void, undefined> {
    const { limit = 100, ...others } = readCallOptions(options as Options | undefined);
    let page: Page<T> | null = await list({ limit, ...others } as Options);
    for (; page !== null; page = await page.next()) yield* page.items;
  }

  return { list, listAll };
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
