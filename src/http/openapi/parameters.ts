import type { Operation } from '../operation.ts';
import { treatPreconditions } from '../preconditions.ts';
import { requestHeaders } from './headers.ts';
import { type Schema, type SharedSchemas, shareSchemas } from './schemas.ts';

export type Place = 'path' | 'query' | 'header';

export interface Parameter {
  readonly place: Place;
  readonly name: string;
  readonly schema: Schema;
}

/** Returns the parameters of an operation as an object for each place: path, query, headers. */
export function groupParameters(operation: Operation): readonly (readonly [Place, Schema])[] {
  const { params, query = {}, isIdempotent } = operation;
  const preconditions = treatPreconditions(operation);
  const { 'If-None-Match': none, 'If-Match': match, 'Idempotency-Key': key, ...always } = requestHeaders;
  const headers = {
    ...(preconditions['If-None-Match'] === 'heeded' && { 'If-None-Match': none }),
    ...(preconditions['If-Match'] === 'heeded' && { 'If-Match': match }),
    ...(isIdempotent && { 'Idempotency-Key': key }),
    ...always,
  };
  return [
    ['path', params?.schema ?? {}],
    ['query', query],
    ['header', { properties: headers }],
  ];
}

/** Returns the parameters of an operation in the same order. */
export function listParameters(operation: Operation): readonly Parameter[] {
  return groupParameters(operation).flatMap(([place, { properties = {} }]) =>
    Object.entries(properties).map(([name, schema]) => ({ place, name, schema })),
  );
}

export function describeParameter({ place, name, schema }: Parameter, schemas: SharedSchemas): object {
  const { description, examples: [example] = [], 'x-stability': stability, repeats: _, ...rest } = schema;
  return {
    name,
    in: place,
    ...(place === 'path' && { required: true }),
    ...(description !== undefined && { description }),
    ...(place === 'query' && 'items' in rest && { style: 'form', explode: false }),
    schema: shareSchemas(rest, schemas),
    ...(example !== undefined && { example }),
    ...(stability !== undefined && { 'x-stability': stability }),
  };
}
