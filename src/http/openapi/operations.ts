import type { TObject, TSchema } from 'typebox';
import { stringifyExactJson } from '../../exact-json.ts';
import type { Operation } from '../operation.ts';
import { jsonTypes } from '../request/body.ts';
import { type DescribedAnswer, hasValidators, listAnswers } from './answers.ts';
import { nameFailure } from './failures.ts';
import { type RequestHeader, referToHeaders } from './headers.ts';
import { shareSchemas } from './schemas.ts';

/** Error responses that several operations share, by name. */
export type SharedResponses = Map<string, object>;

/** Describes an operation for OpenAPI. Adds to `shared` the error responses that other operations can use too. */
export function describeOperation(operation: Operation, shared: SharedResponses): object {
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
      ...describeParameters('path', params),
      ...describeParameters('query', query),
      ...listRequestHeaders(operation).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    ...(operation.body && { requestBody: describeBody(operation) }),
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
function describeParameters(place: 'path' | 'query', schema: TObject | undefined): object[] {
  return Object.entries<TSchema>(schema?.properties ?? {}).map(([name, property]) => {
    const { description, examples, rule: _, 'x-stability': stability, ...rest } = property as Property;
    const [example] = examples ?? [];
    return {
      name,
      in: place,
      ...(place === 'path' && { required: true }),
      ...(description !== undefined && { description }),
      ...(place === 'query' && 'items' in rest && { style: 'form', explode: false }),
      schema: shareSchemas(rest),
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

function describeBody({
  body,
  bodyTypes = jsonTypes.plain,
  bodyExamples,
  isBodyOptional,
}: Operation): object {
  const media = { schema: shareSchemas(body), examples: bodyExamples };
  return { required: !isBodyOptional, content: Object.fromEntries(bodyTypes.map((type) => [type, media])) };
}

/**
 * Describes a response. An error response becomes a reference to the shared response of its status if both are equal.
 * The first response of a status becomes the shared one.
 */
function describeAnswer(answer: DescribedAnswer, shared: SharedResponses): object {
  const { status, description, headers, body, examples } = answer;
  const response = {
    description,
    headers: referToHeaders(headers),
    ...(body && { content: { 'application/json': { schema: shareSchemas(body), examples } } }),
  };
  if (status < 400) return response;
  const name = nameFailure(status);
  const known = shared.get(name);
  if (known !== undefined && stringifyExactJson(known) !== stringifyExactJson(response)) return response;
  shared.set(name, response);
  return { $ref: `#/components/responses/${name}` };
}
