import { eventIdExample } from '../../events/event.ts';
import { stringifyExactJson } from '../../exact-json.ts';
import { eventExamples } from '../api/events.ts';
import { tags } from '../api/operations.ts';
import { pingMessageExample, WebhookMessageSchema } from '../api/webhook-messages.ts';
import type { Operation } from '../operation.ts';
import { jsonTypes } from '../request/body.ts';
import {
  type CommonFailures,
  type DescribedAnswer,
  listAnswers,
  nameFailure,
  operatorFailures,
  publicFailures,
} from './answers.ts';
import {
  operatorHeaders,
  referToHeaders,
  requestHeaders,
  responseHeaders,
  universalHeaders,
} from './headers.ts';
import { describeParameter, listParameters } from './parameters.ts';
import { createSharedSchemas, type SharedSchemas, shareSchemas } from './schemas.ts';

/** The first text of the description and of the documentation, in Markdown. */
export const introduction = `A catalogue of the animals that a store offers, over HTTP and JSON.

Send an API key with every request: \`Authorization: Bearer <API_KEY>\`. The headers of every response show what is left
of the account's limits. After a 429, wait as long as \`Retry-After\` says. Every failure has the same body, \`Error\`, with a
\`code\` for programs. An \`int64\` has up to 19 digits, more than a JavaScript number can hold. Parts marked *beta*
(\`x-stability: beta\` in \`/openapi.json\`) may change.`;

interface Shared {
  readonly failures: CommonFailures;
  /** The names of the headers that every response has. */
  readonly universal: readonly string[];
  readonly schemas: SharedSchemas;
  readonly responses: Map<string, object>;
}

/**
 * Returns the text of `/openapi.json` (OpenAPI 3.1). `ownUrl` is the base URL at which this machine reaches the
 * service. The description contains `ownUrl` if there is no public URL, because code generators need an absolute URL.
 */
export function describeApi(
  operations: readonly Operation[],
  publicUrl: string | null,
  ownUrl: string,
): string {
  const shared: Shared = {
    failures: publicFailures,
    universal: Object.keys(universalHeaders),
    schemas: createSharedSchemas(),
    responses: new Map(),
  };
  const docs = publicUrl === null ? {} : { url: new URL('docs', publicUrl).href };
  const paths = describePaths(operations, shared);
  return stringifyExactJson({
    openapi: '3.1.1',
    info: {
      title: 'Animal Store',
      version: '1.0.0',
      description: introduction,
      contact: { name: 'The operator of this store', ...docs },
      license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
    },
    servers: listServers(publicUrl, ownUrl),
    tags,
    security: [{ apiKey: [] }],
    paths,
    webhooks: { event: { post: describeWebhookMessage(shared.schemas) } },
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `as_<env>_…`.' },
      },
      schemas: Object.fromEntries([...shared.schemas].filter(([, schema]) => schema !== null)),
      parameters: mapValues(requestHeaders, (schema, name) =>
        describeParameter({ place: 'header', name, schema }, shared.schemas),
      ),
      headers: responseHeaders,
      responses: Object.fromEntries(shared.responses),
    },
  });
}

function describePaths(operations: readonly Operation[], shared: Shared) {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const { path, method } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeOperation(operation, shared) };
  }
  return paths;
}

const operatorIntroduction = `What the console of the store shows and does, for programs. Send the token of an operator with every
request: \`Authorization: Bearer <TOKEN>\`. \`x-role\` is the role that an operation needs. A page of a list has at most 50
\`items\`, and that of strangers 100; its \`next\` is the \`before\` of the next page. An \`int64\` has up to 19 digits, more
than a JavaScript number can hold. The operations may change with each release.`;

/** A group of operations. */
interface Tag {
  readonly name: string;
  readonly description: string;
}

/** Returns the text of `/ops/openapi.json` (OpenAPI 3.1), the description of the operator's API below `prefix`. */
export function describeOperatorApi(
  operations: readonly Operation[],
  operatorTags: readonly Tag[],
  prefix: string,
): string {
  const shared: Shared = {
    failures: operatorFailures,
    universal: operatorHeaders,
    schemas: createSharedSchemas(),
    responses: new Map(),
  };
  const paths = describePaths(operations, shared);
  const headerNames = [
    ...operatorHeaders,
    'Cache-Control',
    'Retry-After',
    'WWW-Authenticate',
    'Allow',
  ] as const;
  const { Prefer: preference } = requestHeaders;
  return stringifyExactJson({
    openapi: '3.1.1',
    info: {
      title: 'Animal Store for operators',
      version: '1.0.0',
      description: operatorIntroduction,
      contact: { name: 'The operator of this store' },
      license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
    },
    servers: [{ url: prefix, 'x-internal': true }],
    tags: operatorTags,
    security: [{ operatorToken: [] }],
    paths,
    components: {
      securitySchemes: {
        operatorToken: { type: 'http', scheme: 'bearer', description: 'A token of an operator.' },
      },
      schemas: Object.fromEntries([...shared.schemas].filter(([, schema]) => schema !== null)),
      parameters: {
        Prefer: describeParameter({ place: 'header', name: 'Prefer', schema: preference }, shared.schemas),
      },
      headers: Object.fromEntries(headerNames.map((name) => [name, responseHeaders[name]])),
      responses: Object.fromEntries(shared.responses),
    },
  });
}

function listServers(publicUrl: string | null, ownUrl: string) {
  if (publicUrl !== null) return [{ url: publicUrl, 'x-internal': false }];
  const loaded = 'Where this description was loaded from: local, staging or production.';
  return [
    // Code generators use the first server, so its URL is absolute.
    { url: ownUrl, description: 'The local address of this service.', 'x-internal': true },
    { url: '/v1', description: loaded, 'x-internal': false },
  ];
}

/** Describes an operation. Adds to `shared` the schemas and error responses that others can use too. */
function describeOperation(operation: Operation, shared: Shared): object {
  const { id, tag, summary, description, scope, role, stability, deprecation } = operation;
  const removal = deprecation && new Date(deprecation.removedAtMs).toISOString().slice(0, 10);
  const responses = listAnswers(operation, shared.failures).map((answer) => [
    answer.status,
    describeAnswer(answer, shared),
  ]);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(removal && { deprecated: true, 'x-sunset': removal }),
    ...(stability === 'beta' && { 'x-stability': stability }),
    ...(role === undefined ? { 'x-scope': scope } : { 'x-role': role }),
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

/** Describes a response. An error response equal to the first one of its status refers to that one. */
function describeAnswer(answer: DescribedAnswer, { schemas, responses, universal }: Shared): object {
  const { status, description, headers, body, examples } = answer;
  const response = {
    description,
    headers: referToHeaders(headers, universal),
    ...(body && { content: { 'application/json': { schema: shareSchemas(body, schemas), examples } } }),
  };
  if (status < 400) return response;
  const name = nameFailure(status);
  const known = responses.get(name);
  if (known !== undefined && stringifyExactJson(known) !== stringifyExactJson(response)) return response;
  responses.set(name, response);
  return { $ref: `#/components/responses/${name}` };
}

const messageHeaders = {
  'webhook-id': {
    description: 'The id of the event.',
    schema: { type: 'string', maxLength: 64, pattern: '^[0-9A-Za-z_]+$' },
    example: eventIdExample,
  },
  'webhook-timestamp': {
    description: 'The time of the attempt in Unix seconds.',
    schema: { type: 'string', maxLength: 12, pattern: '^[0-9]+$' },
    example: '1798891200',
  },
  'webhook-signature': {
    description:
      'Signatures of the id, the timestamp and the body, separated by spaces. One of them must match the secret.',
    schema: { type: 'string', maxLength: 1_024, pattern: '^v1,[!-~ ]+$' },
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
};

function describeWebhookMessage(schemas: SharedSchemas) {
  const bodies = { ...eventExamples, 'webhook.ping': pingMessageExample };
  const headers = Object.entries(messageHeaders);
  const schema = shareSchemas(WebhookMessageSchema, schemas);
  const examples = mapValues(bodies, (value) => ({ value }));
  return {
    operationId: 'receiveEvent',
    tags: ['webhooks'],
    summary: 'Receive an event',
    description:
      'The service sends one event in each POST, signed by Standard Webhooks 1.0.0. Verify the signature, store the event, then answer 2xx. A repeated event has the same `webhook-id`.',
    'x-stability': 'beta',
    security: [],
    parameters: headers.map(([name, header]) => ({ name, in: 'header', required: true, ...header })),
    requestBody: { required: true, content: { 'application/json': { schema, examples } } },
    responses: {
      '204': { description: 'The event is stored. Every 2xx means this.' },
      '410': { description: 'The webhook is disabled.' },
      default: { description: 'The attempt has failed. The service sends the event again later.' },
    },
  };
}

function mapValues<T>(values: Readonly<Record<string, T>>, map: (value: T, name: string) => object) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]));
}
