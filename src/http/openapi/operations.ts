import type { TObject, TSchema } from 'typebox';
import { stringifyExactJson } from '../../exact-json.ts';
import type { Operation } from '../operation.ts';
import { jsonTypes } from '../request/body.ts';
import { type DescribedAnswer, hasValidators, listAnswers } from './answers.ts';
import { nameFailure } from './failures.ts';
import { type RequestHeader, referToHeaders } from './headers.ts';
import { type SharedSchemas, shareSchemas } from './schemas.ts';

/** What the operations of a description share, by name. */
export interface Shared {
  readonly schemas: SharedSchemas;
  /** Error responses. */
  readonly responses: Map<string, object>;
}

/** Describes an operation for OpenAPI. Adds to `shared` the schemas and error responses that others can use too. */
export function describeOperation(operation: Operation, shared: Shared): object {
  const { id, tag, summary, description, scope, stability, deprecation, params, query } = operation;
  const removal = deprecation && new Date(deprecation.removedAtMs).toISOString().slice(0, 10);
  const responses = listAnswers(operation).map((answer) => [answer.status, describeAnswer(answer, shared)]);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(removal && { deprecated: true, 'x-sunset': removal }),
    ...(stability === 'beta' && { 'x-stability': stability }),
    'x-scope': scope,
    parameters: [
      ...describeParameters('path', params, shared),
      ...describeParameters('query', query, shared),
      ...listRequestHeaders(operation).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    ...(operation.body && { requestBody: describeBody(operation, shared) }),
    responses: Object.fromEntries(responses),
  };
}

/** Returns the headers that an operation reads, besides `Authorization`. */
export function listRequestHeaders(operation: Operation): readonly RequestHeader[] {
  return [
    ...(hasValidators(operation) ? (['If-None-Match'] as const) : []),
    ...(operation.isConditional ? (['If-Match'] as const) : []),
    ...(operation.isIdempotent ? (['Idempotency-Key'] as const) : []),
    'Prefer',
  ];
}

/** Describes the properties of a schema as OpenAPI parameters. */
function describeParameters(
  place: 'path' | 'query',
  schema: TObject | undefined,
  { schemas }: Shared,
): object[] {
  return Object.entries<TSchema>(schema?.properties ?? {}).map(([name, property]) => {
    const { description, examples, rule: _, 'x-stability': stability, ...rest } = property as Property;
    const [example] = examples ?? [];
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
  });
}

interface Property {
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly rule?: string;
  readonly 'x-stability'?: string;
}

function describeBody(operation: Operation, { schemas }: Shared): object {
  const { body, bodyTypes = jsonTypes.plain, bodyExamples, isBodyOptional } = operation;
  const media = { schema: shareSchemas(body, schemas), examples: bodyExamples };
  return { required: !isBodyOptional, content: Object.fromEntries(bodyTypes.map((type) => [type, media])) };
}

/**
 * Describes a response. An error response becomes a reference to the shared response of its status if both are equal.
 * The first response of a status becomes the shared one.
 */
function describeAnswer(answer: DescribedAnswer, { schemas, responses }: Shared): object {
  const { status, description, headers, body, examples } = answer;
  const response = {
    description,
    headers: referToHeaders(headers),
    ...(body && { content: { 'application/json': { schema: shareSchemas(body, schemas), examples } } }),
  };
  if (status < 400) return response;
  const name = nameFailure(status);
  const known = responses.get(name);
  if (known !== undefined && stringifyExactJson(known) !== stringifyExactJson(response)) return response;
  responses.set(name, response);
  return { $ref: `#/components/responses/${name}` };
}
