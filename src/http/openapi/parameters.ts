import type { SchemaName } from '../../schema.ts';
import type { Operation } from '../operation.ts';
import { hasValidators } from './answers.ts';
import { requestHeaders } from './headers.ts';
import { type SharedSchemas, shareSchemas } from './schemas.ts';

export type Place = 'path' | 'query' | 'header';

/** The parts of a JSON Schema that the description and the reference show. */
export interface Schema extends Partial<SchemaName> {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** The rule in words, for error messages. */
  readonly rule?: string;
  readonly 'x-stability'?: string;
}

/** A parameter of an operation. */
export interface Parameter {
  readonly place: Place;
  readonly name: string;
  readonly schema: Schema;
}

/** Returns the parameters of an operation: path, query, headers. */
export function listParameters(operation: Operation): readonly Parameter[] {
  const { params, query } = operation;
  const header = Object.fromEntries(
    Object.entries(requestHeaders).filter(([name]) => readsHeader(operation, name)),
  );
  const byPlace = { path: params?.schema.properties, query: query?.properties, header };
  return Object.entries(byPlace).flatMap(([place, schemas = {}]) =>
    Object.entries<Schema>(schemas).map(([name, schema]) => ({ place: place as Place, name, schema })),
  );
}

function readsHeader(operation: Operation, name: string): boolean {
  if (name === 'If-None-Match') return hasValidators(operation);
  if (name === 'If-Match') return operation.isConditional === true;
  return name !== 'Idempotency-Key' || operation.isIdempotent === true;
}

/** Describes a parameter for OpenAPI. */
export function describeParameter({ place, name, schema }: Parameter, schemas: SharedSchemas): object {
  const { description, examples: [example] = [], rule: _, 'x-stability': stability, ...rest } = schema;
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
