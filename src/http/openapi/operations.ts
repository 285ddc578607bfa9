import { stringifyExactJson } from '../../exact-json.ts';
import type { Operation } from '../operation.ts';
import { jsonTypes } from '../request/body.ts';
import { type DescribedAnswer, listAnswers } from './answers.ts';
import { nameFailure } from './failures.ts';
import { referToHeaders } from './headers.ts';
import { describeParameter, listParameters } from './parameters.ts';
import { type SharedSchemas, shareSchemas } from './schemas.ts';

/** What the operations of a description share, by name. */
export interface Shared {
  readonly schemas: SharedSchemas;
  /** Error responses. */
  readonly responses: Map<string, object>;
}

/** Describes an operation for OpenAPI. Adds to `shared` the schemas and error responses that others can use too. */
export function describeOperation(operation: Operation, shared: Shared): object {
  const { id, tag, summary, description, scope, stability, deprecation } = operation;
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
    parameters: listParameters(operation).map((parameter) =>
      parameter.place === 'header'
        ? { $ref: `#/components/parameters/${parameter.name}` }
        : describeParameter(parameter, shared.schemas),
    ),
    ...(operation.body && { requestBody: describeBody(operation, shared) }),
    responses: Object.fromEntries(responses),
  };
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
