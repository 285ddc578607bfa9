import { describeFailure, nameFailure } from './openapi-failures.ts';
import { referToHeaders, responseHeaders } from './openapi-headers.ts';
import { type OperationDescription, operations } from './openapi-operations.ts';
import { completeParameter, describeRequestHeaders } from './openapi-parameters.ts';
import { describeSchemas, shareSchemas } from './openapi-schemas.ts';

/** What the routes' schemas say of an operation. */
interface RouteOperation {
  readonly operationId?: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: unknown }>>;

/** A description as the routes' schemas alone make it. */
export interface RouteDescription {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RouteOperation>>>>;
  readonly components: object;
}

/**
 * The whole description: what the routes' schemas say, and besides every status, header and example. Throws for an
 * operation that nothing is known of (openapi-operations.ts).
 */
export function completeDescription(routes: RouteDescription): object {
  const failures = new Set<number>();

  function completeOperation(operation: RouteOperation): object {
    const described = operations[operation.operationId ?? ''];
    if (described === undefined) throw new Error(`the operation ${operation.operationId} is not described`);
    for (const status of described.failures) failures.add(status);
    return describeOperation(operation, described);
  }

  const paths = mapValues(routes.paths, (path) => mapValues(path, completeOperation));
  const components = {
    ...routes.components,
    schemas: describeSchemas(),
    parameters: describeRequestHeaders(),
    headers: responseHeaders,
    responses: Object.fromEntries(
      [...failures].map((status) => [nameFailure(status), describeFailure(status)]),
    ),
  };
  return { ...routes, paths, components };
}

function describeOperation(operation: RouteOperation, described: OperationDescription): object {
  const { summary, description, scope, requestHeaders, bodyExamples, extensions } = described;
  const { operationId, parameters = [], requestBody, responses, ...rest } = operation;
  return {
    operationId,
    tags: ['pets'],
    summary,
    description,
    ...rest,
    ...extensions,
    'x-scope': scope,
    parameters: [
      ...parameters.map((parameter) => shareSchemas(completeParameter(parameter))),
      ...requestHeaders.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    ...(requestBody && {
      requestBody: { ...requestBody, content: describeContent(requestBody, bodyExamples) },
    }),
    responses: describeResponses(responses, described),
  };
}

function describeResponses(
  responses: RouteOperation['responses'],
  { successes, failures, ownFailures = [], ownHeaders = [] }: OperationDescription,
): object {
  const all: [status: string, response: object][] = [];
  for (const [status, { when, headers, examples }] of Object.entries(successes)) {
    const content = describeContent(responses[status], examples);
    all.push([status, { description: when, headers: referToHeaders(headers), ...(content && { content }) }]);
  }
  for (const status of failures)
    all.push([String(status), { $ref: `#/components/responses/${nameFailure(status)}` }]);
  for (const status of ownFailures) all.push([String(status), describeFailure(status, ownHeaders)]);
  return Object.fromEntries(all);
}

function describeContent(part: { readonly content?: Content } | undefined, examples: object | undefined) {
  if (part?.content === undefined) return undefined;
  return mapValues(part.content, ({ schema }) => ({ schema: shareSchemas(schema), examples }));
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
