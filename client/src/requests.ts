import type { ListRequestsQuery, RecordedRequest } from './generated.ts';
import { createLists, type Page } from './page.ts';
import type { CallOptions, Transport } from './transport.ts';

export interface RequestsListOptions extends Omit<ListRequestsQuery, 'code'>, CallOptions {
  /** Only requests that failed with this code, such as the `code` of an error. */
  readonly code?: string | undefined;
}

export interface RequestsListAllOptions extends Omit<RequestsListOptions, 'cursor'> {}

/**
 * The requests of the account that failed or took over a second. The service keeps them for 7 days. A method that fails
 * rejects with AnimalStoreError.
 */
export interface Requests {
  /** Returns one page, newest requests first. The default `limit` is 20. A request is listed a second or two later. */
  list(options?: RequestsListOptions): Promise<Page<RecordedRequest>>;
  /** Yields all requests, page by page. */
  listAll(options?: RequestsListAllOptions): AsyncGenerator<RecordedRequest, void, undefined>;
}

export function createRequests(send: Transport): Requests {
  return createLists<'listRequests', RequestsListOptions>(send, 'listRequests');
}
