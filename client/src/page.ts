import { readCallOptions, readObject, writeQuery } from './arguments.ts';
import { createError } from './errors.ts';
import { type Answers, operations } from './generated.ts';
import { createReader } from './operation-call.ts';
import { findLink, type ResponseInfo } from './response-info.ts';
import type { CallOptions, Transport } from './transport.ts';

export interface Page<T> {
  readonly items: readonly T[];
  /** The `cursor` of the next page. Null on the last page. */
  readonly nextCursor: string | null;
  readonly response: ResponseInfo;
  /**
   * Returns the next page, or null after the last page. By default, the request uses the options of the call that
   * returned this page.
   */
  next(options?: CallOptions): Promise<Page<T> | null>;
}

type ListOperation =
  | 'listPets'
  | 'listCategories'
  | 'listOrders'
  | 'listRequests'
  | 'listKeys'
  | 'listWebhooks';

/** Creates the methods that return one page and that yield all items. */
export function createLists<Name extends ListOperation, Options extends CallOptions>(
  send: Transport,
  operation: Name,
) {
  type Item = Answers[Name][number];
  const { path } = operations[operation];
  const read = createReader<readonly Item[]>(operation);

  async function getPage(query: string, options: CallOptions): Promise<Page<Item>> {
    const { value, response } = await send({ operation, path: path + query, read }, options);
    const next = findNext(response, path);
    return {
      items: value,
      nextCursor: next?.get('cursor') ?? null,
      response,
      next: async (own) =>
        next === null ? null : getPage(`?${next}`, { ...options, ...definedOnly(readCallOptions(own)) }),
    };
  }

  async function list(options?: Options): Promise<Page<Item>> {
    const given = readObject(options);
    return getPage(writeQuery(operation, given), readCallOptions(given));
  }

  async function* listAll(options?: Omit<Options, 'cursor'>): AsyncGenerator<Item, void, undefined> {
    const given: unknown = { limit: 100, ...readObject(options) };
    let page: Page<Item> | null = await list(given as Options);
    for (; page !== null; page = await page.next()) yield* page.items;
  }

  return { list, listAll };
}

function definedOnly(options: CallOptions): CallOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
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
