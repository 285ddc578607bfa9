import type { Answer } from './answer.ts';
import { formatQuery, readCallOptions, writeBody } from './arguments.ts';
import { argumentError } from './errors.ts';
import { type OperationName, operations } from './generated.ts';
import { mismatch } from './shapes.ts';
import type { CallOptions, Transport } from './transport.ts';

export type RequestMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface RequestOptions extends CallOptions {
  readonly query?: Readonly<Record<string, string | number | bigint | undefined>> | undefined;
  /** Sent as JSON. Use a bigint for an int64. */
  readonly body?: object | undefined;
  /** Additional headers. `authorization` is not allowed. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * Sends a request to any path of the service. Use it for an operation that this version of the client does not know, or
 * to get the text of the response. Retries work as in every other call. One exception: a POST without an
 * `idempotency-key` is retried only after a 429, because then the service did nothing. A 304 is a success without a
 * value. Rejects with AnimalStoreError.
 */
export type SendRequest = <T = unknown>(
  method: RequestMethod,
  path: `/${string}`,
  options?: RequestOptions,
) => Promise<Answer<T>>;

/** A segment `.` or `..`, which would lead the request and the API key out of baseUrl. */
const dotSegment = /[/\\](?:\.|%2e){1,2}(?:[/\\]|$)/i;

export function createRequest(send: Transport): SendRequest {
  return async <T>(method: RequestMethod, path: string, options?: RequestOptions) => {
    const own = readCallOptions(options);
    const { query = {}, body, headers = {} } = options ?? {};
    if (!/^(?:GET|POST|PUT|PATCH|DELETE)$/.test(method))
      throw argumentError('method', 'must be GET, POST, PUT, PATCH or DELETE');
    if (typeof path !== 'string' || !/^\/[!-~]*$/.test(path) || /[?#]/.test(path) || dotSegment.test(path))
      throw argumentError(
        'path',
        'must be a path relative to baseUrl, such as /pets, without . and ..; put the query into `query`',
      );
    if (typeof query !== 'object' || query === null) throw argumentError('query', 'must be an object');
    if (body !== undefined && method === 'GET') throw argumentError('body', 'must be absent from a GET');
    const sent = readHeaders(headers);
    if ('authorization' in sent) throw argumentError('headers', 'must not contain authorization');
    const call = {
      operation: findOperation(method, path),
      method,
      path: path + formatQuery(query),
      headers: sent,
      isOnce: method === 'POST' && !('idempotency-key' in sent),
      read: (value: unknown, status: number) =>
        value !== undefined || isEmpty(status) ? (value as T) : mismatch,
      ...(body !== undefined && { body: writeBody('body', body) }),
    };
    return await send<T>(call, own);
  };
}

/** Returns the headers with lower-case names, so that they replace those of the client. */
function readHeaders(headers: unknown): Record<string, string> {
  try {
    return Object.fromEntries(new Headers(headers as Record<string, string>));
  } catch {
    throw argumentError('headers', 'must be an object with valid names and values of HTTP headers');
  }
}

function isEmpty(status: number): boolean {
  return status === 202 || status === 204 || status === 304;
}

function findOperation(method: string, path: string): OperationName | null {
  const found = Object.entries(operations).find(
    ([, operation]) => operation.method === method && toPattern(operation.path).test(path),
  );
  return (found?.[0] as OperationName | undefined) ?? null;
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}
