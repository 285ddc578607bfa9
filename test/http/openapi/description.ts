import assert from 'node:assert/strict';
import Schema from 'typebox/schema';
import type { RawResponse } from '../../support/raw-http.ts';

/** The parts of an OpenAPI description that the tests use. Any of them may be a `$ref`. */
export interface Description {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly security: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

export interface Operation {
  readonly operationId: string;
  readonly 'x-stability'?: string;
  readonly parameters: readonly object[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, object>>;
}

export interface ResponseDescription {
  readonly headers: Readonly<Record<string, object>>;
  readonly content?: Content;
}

interface HeaderDescription {
  readonly required?: boolean;
  readonly schema: { readonly type: string };
  readonly example: unknown;
}

type Content = Readonly<Record<string, MediaType>>;

interface MediaType {
  readonly schema: object;
  readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
}

/** Headers that HTTP requires or Node adds. A description does not list them. */
const framing = new Set(['connection', 'content-length', 'content-type', 'date', 'keep-alive']);

/** Returns the target of a node that is a `$ref`, otherwise the node itself. */
export function resolve<T extends object>(description: Description, node: object): T {
  if (!('$ref' in node)) return node as T;
  const [, section = '', name = ''] = /^#\/components\/(\w+)\/([\w-]+)$/.exec(String(node.$ref)) ?? [];
  const target = description.components[section]?.[name];
  assert.ok(target, `${node.$ref} leads nowhere`);
  return resolve(description, target);
}

export function listOperations({ paths }: Description): Map<string, Operation> {
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  return new Map(operations.map((operation) => [operation.operationId, operation]));
}

/** Yields every schema that has examples, with the examples and the place of the schema. */
export function* listExamples(description: Description) {
  for (const [name, { requestBody, responses }] of listOperations(description)) {
    const described = Object.entries(responses).map(
      ([status, response]) => [status, resolve<ResponseDescription>(description, response).content] as const,
    );
    for (const [part, content] of [['body', requestBody?.content] as const, ...described])
      for (const { schema, examples } of Object.values(content ?? {}))
        for (const [label, { value }] of Object.entries(examples))
          yield { place: `${name} ${part} ${label}`, schema, value };
  }
}

/** Returns true if the description allows a value, also one that a later release adds to an enumeration. */
export function allows({ components }: Description, schema: object, value: unknown): boolean {
  return Schema.Compile({ allOf: [schema], components }).Check(value);
}

const compiled = new WeakMap<object, { Check(value: unknown): boolean }>();

/**
 * Returns true if a value matches a schema of the description, and every enumeration in it has a known value. So it is stricter
 * than the description, which also allows what a later release adds.
 */
export function matchesSchema({ components }: Description, schema: object, value: unknown): boolean {
  const known = compiled.get(schema);
  if (known !== undefined) return known.Check(value);
  const made = Schema.Compile(close({ allOf: [schema], components }));
  compiled.set(schema, made);
  return made.Check(value);
}

/** Returns true for the variant of a union that stands for what a later release adds. */
export function isLater(variant: object): boolean {
  const text = JSON.stringify(variant);
  return text === '{"$ref":"#/components/schemas/OtherEvent"}' || text === laterValue;
}

const laterValue = '{"type":"string","minLength":1,"maxLength":100,"pattern":"^[!-~]+$"}';

/** Returns the schema without the variants for what a later release adds. */
function close(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === 'anyOf' ? value.filter((variant: object) => !isLater(variant)) : value,
  );
}

/**
 * Throws if a response of an operation has a status, a header or a body that is not described. A response to HEAD needs
 * the shape `bodiless`.
 */
export function expectDescribed(
  description: Description,
  operationId: string,
  { status, headers, body }: RawResponse,
  shape: 'whole' | 'bodiless' = 'whole',
): void {
  const node = listOperations(description).get(operationId)?.responses[status];
  assert.ok(node, `${operationId} answers ${status}, which is not described`);
  const response = resolve<ResponseDescription>(description, node);
  expectHeaders(description, response, headers);
  const media = response.content?.['application/json'];
  if (media === undefined || shape === 'bodiless') assert.equal(body, '');
  else {
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
    assert.ok(matchesSchema(description, media.schema, JSON.parse(body)), body);
  }
}

function expectHeaders(description: Description, response: ResponseDescription, headers: Headers): void {
  const described = new Map(
    Object.entries(response.headers).map(([name, node]) => [
      name.toLowerCase(),
      resolve<HeaderDescription>(description, node),
    ]),
  );
  for (const name of headers.keys())
    assert.ok(framing.has(name) || described.has(name), `${name} is not described`);
  for (const [name, { required, schema }] of described) {
    const text = headers.get(name);
    if (text === null) assert.notEqual(required, true, `${name} is missing`);
    else assert.ok(matchesSchema(description, schema, readValue(text, schema.type)), `${name}: ${text}`);
  }
}

function readValue(text: string, type: string): string | number {
  return type === 'integer' ? Number(text) : text;
}
