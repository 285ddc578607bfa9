import type { TSchema } from 'typebox';
import type { SchemaName } from '../../../schema.ts';
import { requestHeaders } from '../../openapi/headers.ts';
import { listRequestHeaders } from '../../openapi/operations.ts';
import type { Operation } from '../../operation.ts';

export type Place = 'path' | 'query' | 'header';

/** The parts of a JSON Schema that the reference shows. */
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
  readonly 'x-stability'?: string;
}

/** A parameter of an operation. */
export interface Parameter {
  readonly place: Place;
  readonly name: string;
  readonly schema: Schema;
  readonly description: string;
  readonly isRequired: boolean;
  readonly isBeta: boolean;
  /** Undefined if there is none. */
  readonly example: unknown;
}

/** Returns the parameters of an operation: path, query, headers. */
export function listParameters(operation: Operation): readonly Parameter[] {
  const inUrl = (['path', 'query'] as const).flatMap((place) => {
    const schema = place === 'path' ? operation.params : operation.query;
    return Object.entries<TSchema>(schema?.properties ?? {}).map(([name, property]) => {
      const described = property as Schema;
      const { description = '', examples, 'x-stability': stability } = described;
      const isBeta = stability === 'beta';
      const isRequired = place === 'path';
      return { place, name, schema: described, description, isRequired, isBeta, example: examples?.[0] };
    });
  });
  const headers = listRequestHeaders(operation).map((name) => {
    const { schema, description, example } = requestHeaders[name];
    return { place: 'header' as const, name, schema, description, isRequired: false, isBeta: true, example };
  });
  return [...inUrl, ...headers];
}
