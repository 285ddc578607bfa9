import {
  readCallOptions,
  readIdempotencyKey,
  readIfMatch,
  readObject,
  writeOperationBody,
  writePath,
  writeQuery,
} from './arguments.ts';
import { type Answers, type OperationName, operations } from './generated.ts';
import type { ResponseInfo } from './response-info.ts';
import { mismatch, readShape } from './shapes.ts';
import type { CallOptions, Transport } from './transport.ts';

/**
 * The result of a call. `response` is the metadata of the HTTP response. It is not enumerable, so copies and JSON omit
 * it.
 */
export type WithResponse<T> = T & { readonly response: ResponseInfo };

export interface CreateOptions extends CallOptions {
  /**
   * Identifies the request for 24 hours. If your program repeats the request with the same key, the service returns the
   * first response and does nothing else. By default, the client creates a key for each call.
   */
  readonly idempotencyKey?: string | null | undefined;
}

export interface ChangeOptions extends CallOptions {
  /**
   * The `ETag` of the animal when you read it. If the animal has changed since, the call fails with
   * `precondition_failed`.
   */
  readonly ifMatch?: string | null | undefined;
}

/** The parts of a request that follow from the arguments of a call. */
interface GivenParts {
  /** The identifier in the path. */
  readonly id?: unknown;
  readonly body?: unknown;
}

/** Sends the request of an operation. Query parameters are options. Rejects with AnimalStoreError. */
export type CallOperation = <Name extends OperationName>(
  operation: Name,
  parts: GivenParts,
  options: CallOptions | undefined,
) => Promise<WithResponse<Answers[Name]>>;

export function createCallOperation(send: Transport): CallOperation {
  return async <Name extends OperationName>(name: Name, { id, body }: GivenParts, options?: CallOptions) => {
    const operation = operations[name];
    const given = readObject(options);
    const call = {
      operation: name,
      path: writePath(name, id) + writeQuery(name, given),
      headers: {
        ...(operation.isIdempotent && { 'idempotency-key': readIdempotencyKey(given['idempotencyKey']) }),
        ...readIfMatch(given['ifMatch']),
      },
      ...(operation.body !== null && { body: writeOperationBody(operation.body, body) }),
      read: createReader<Answers[Name]>(name),
    };
    const { value, response } = await send(call, readCallOptions(given));
    if (value === undefined) return value as WithResponse<Answers[Name]>;
    return Object.defineProperty(value, 'response', { value: response }) as WithResponse<Answers[Name]>;
  };
}

/** Returns a function that reads the response of an operation. It returns `mismatch` for any other response. */
export function createReader<T>(
  name: OperationName,
): (value: unknown, status: number) => T | typeof mismatch {
  const { answer } = operations[name];
  return (value, status) => {
    if (answer === null) return value === undefined && status === 204 ? (value as T) : mismatch;
    return readShape(answer, value) as T | typeof mismatch;
  };
}
