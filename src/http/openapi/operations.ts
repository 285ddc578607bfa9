import { stringifyExactJson } from '../../exact-json.ts';
import type { AnswerDefinition, Operation } from '../operation.ts';
import { jsonTypes } from '../request/body.ts';
import { describeFailure, listFailures, nameFailure } from './failures.ts';
import { type HeaderName, referToHeaders } from './headers.ts';
import { describeParameters, type RequestHeader } from './parameters.ts';
import { shareSchemas } from './schemas.ts';

const announcements: readonly HeaderName[] = ['Deprecation', 'Sunset', 'SuccessorLink'];

/** Error responses that several operations share, by name. */
export type SharedResponses = Map<string, object>;

/** Describes an operation for OpenAPI. Adds to `shared` the error responses that other operations can use too. */
export function describeOperation(operation: Operation, shared: SharedResponses): object {
  const { id, tag, summary, description, scope, stability, deprecation, params, query } = operation;
  const removal = deprecation && new Date(deprecation.removedAtMs).toISOString().slice(0, 10);
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
    responses: describeResponses(operation, shared),
  };
}

function listRequestHeaders({
  method,
  isIdempotent,
  isConditional,
  isNeverStored,
}: Operation): RequestHeader[] {
  if (method === 'GET' && !isNeverStored) return ['If-None-Match', 'Prefer'];
  return [
    ...(isConditional ? (['If-Match'] as const) : []),
    ...(isIdempotent ? (['Idempotency-Key'] as const) : []),
    'Prefer',
  ];
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

function describeResponses(operation: Operation, shared: SharedResponses): object {
  const responses: [status: number, response: object][] = [];
  for (const [status, answer] of Object.entries(operation.answers))
    responses.push([Number(status), describeAnswer(operation, answer)]);
  if (operation.method === 'GET' && !operation.isNeverStored)
    responses.push([304, describeUnchanged(operation)]);
  for (const [status, codes] of listFailures(operation)) {
    const own = operation.deprecation === undefined ? [] : announcements;
    responses.push([status, share(nameFailure(status), describeFailure(status, codes, own), shared)]);
  }
  return Object.fromEntries(responses.map(([status, response]) => [String(status), response]));
}

function describeAnswer(operation: Operation, answer: AnswerDefinition): object {
  const { description, body, examples } = answer;
  return {
    description,
    headers: referToHeaders(listAnswerHeaders(operation, answer)),
    ...(body && { content: { 'application/json': { schema: shareSchemas(body), examples } } }),
  };
}

function describeUnchanged(operation: Operation): object {
  const [answer] = Object.values(operation.answers);
  return {
    description: 'The answer still has an `ETag` that `If-None-Match` names.',
    headers: referToHeaders(answer === undefined ? [] : listAnswerHeaders(operation, answer)),
  };
}

function listAnswerHeaders(
  { method, isIdempotent, isNeverStored, deprecation }: Operation,
  { headers = [] }: AnswerDefinition,
): HeaderName[] {
  const validators: HeaderName[] = method === 'GET' && !isNeverStored ? ['Cache-Control', 'ETag'] : [];
  const keeping: HeaderName[] = isNeverStored ? ['Cache-Control'] : [];
  const replay: HeaderName[] = isIdempotent ? ['Idempotent-Replayed'] : [];
  return [
    ...validators,
    ...keeping,
    ...headers,
    ...replay,
    ...(deprecation === undefined ? [] : announcements),
  ];
}

/**
 * Returns a reference to the shared response `name` if `response` equals it, otherwise `response` itself. The first
 * response with a name becomes the shared one.
 */
function share(name: string, response: object, shared: SharedResponses): object {
  const known = shared.get(name);
  if (known !== undefined && stringifyExactJson(known) !== stringifyExactJson(response)) return response;
  shared.set(name, response);
  return { $ref: `#/components/responses/${name}` };
}
