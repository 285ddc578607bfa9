import type { DescribedOperation, Parameter, Schema } from '../description.ts';

/** The example request in the samples of an operation. */
export interface RequestExample {
  readonly operationId: string;
  readonly method: string;
  /** Path with placeholders, such as `/pets/{petId}`. */
  readonly path: string;
  readonly pathValues: readonly SampleValue[];
  readonly queryValues: readonly SampleValue[];
  readonly isIdempotent: boolean;
  /** Null if the operation takes no body. */
  readonly body: { readonly type: string; readonly schema: Schema; readonly value: unknown } | null;
  readonly answer: 'list' | 'object' | 'nothing';
}

export interface SampleValue {
  readonly name: string;
  readonly schema: Schema;
  readonly value: unknown;
}

/**
 * Chooses an example request with all required values. If the operation has `limit` or a filter with fixed values, they
 * are included.
 */
export function chooseRequest(operation: DescribedOperation): RequestExample {
  const { id, method, path, parameters, body } = operation;
  return {
    operationId: id,
    method,
    path,
    pathValues: parameters.filter((one) => one.in === 'path').map(toSampleValue),
    queryValues: parameters.filter(isShown).map(toSampleValue),
    isIdempotent: parameters.some(({ name }) => name === 'Idempotency-Key'),
    body: body && {
      type: body.types[0] ?? 'application/json',
      schema: body.media.schema,
      value: Object.values(body.media.examples ?? {})[0]?.value,
    },
    answer: nameAnswer(operation),
  };
}

/** Returns the percent-encoded path and query of a request. */
export function writeTarget({ path, pathValues, queryValues }: RequestExample): string {
  const filled = pathValues.reduce(
    (text, { name, value }) => text.replace(`{${name}}`, encodeURIComponent(String(value))),
    path,
  );
  const query = queryValues.map(({ name, value }) => `${name}=${encodeURIComponent(String(value))}`);
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`;
}

/** Returns the first 2xx response of an operation. */
function findSuccess({ responses }: DescribedOperation) {
  return responses.find(({ status }) => status.startsWith('2'));
}

/**
 * True if the samples contain the parameter. Samples contain no cursor or position, because these come from an earlier
 * response.
 */
function isShown({ in: place, required, schema, name, example }: Parameter): boolean {
  if (place !== 'query' || example === undefined) return false;
  return required === true || name === 'limit' || schema.enum !== undefined || name === 'status';
}

function toSampleValue({ name, schema, example }: Parameter): SampleValue {
  return { name, schema, value: example };
}

function nameAnswer(operation: DescribedOperation): RequestExample['answer'] {
  const body = findSuccess(operation)?.body ?? null;
  if (body === null) return 'nothing';
  return body.schema.type === 'array' ? 'list' : 'object';
}
