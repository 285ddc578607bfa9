import type { Answer } from './answer.ts';
import { readCallOptions, writeBody, writeQuery } from './call.ts';
import { argumentError } from './errors.ts';
import { type OperationName, operations } from './operations.ts';
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
 * `idempotency-key` is retried only after a 429, because then the service did nothing. Rejects with AnimalStoreError.
 */
export type SendRequest = <T = unknown>(
  method: RequestMethod,
  path: `/${string}`,
  options?: RequestOptions,
) => Promise<Answer<T>>;

export function createRequest(send: Transport): SendRequest {
  return async <T>(method: RequestMethod, path: string, options?: RequestOptions) => {
    const { query = {}, body, headers = {}, signal } = readCallOptions(options);
    if (!/^(?:GET|POST|PUT|PATCH|DELETE)$/.test(method))
      throw argumentError('method', 'must be GET, POST, PUT, PATCH or DELETE');
    if (typeof path !== 'string' || !/^\/[!-~]*$/.test(path) || /[?#]/.test(path))
      throw argumentError(
        'path',
        'must be a path relative to baseUrl, such as /pets; put the query into `query`',
      );
    const names = Object.keys(headers).map((name) => name.toLowerCase());
    if (names.includes('authorization')) throw argumentError('headers', 'must not contain authorization');
    const call = {
      operation: findOperation(method, path),
      method,
      path: path + writeQuery(query),
      headers,
      isOnce: method === 'POST' && !names.includes('idempotency-key'),
      isExpected: (value: unknown, status: number): value is T => value !== undefined || isEmpty(status),
      ...(body !== undefined && { body: writeBody('body', body) }),
    };
    return await send<T>(call, { signal });
  };
}

function isEmpty(status: number): boolean {
  return status === 202 || status === 204;
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
