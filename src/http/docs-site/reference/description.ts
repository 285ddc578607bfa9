import { parseExactJson } from '../../../exact-json.ts';

/** A schema of the OpenAPI description. Its integers are bigints, so that int64 bounds stay exact. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: bigint | number;
  readonly maximum?: bigint | number;
  readonly minLength?: bigint;
  readonly maxLength?: bigint;
  readonly minItems?: bigint;
  readonly maxItems?: bigint;
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

export type Place = 'path' | 'query' | 'header';

export interface Parameter {
  readonly name: string;
  readonly in: Place;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
  readonly 'x-stability'?: string;
}

export interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

export interface Media {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, Example>>;
}

export interface Header {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Response {
  readonly status: string;
  readonly description: string;
  readonly headers: Readonly<Record<string, Header>>;
  /** Null if the response has no body. */
  readonly body: Media | null;
}

/** An operation of the description. All references except those to schemas are resolved. */
export interface DescribedOperation {
  readonly id: string;
  /** In upper case. */
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly isBeta: boolean;
  /** Date of the removal, such as `2030-12-05`. Null if no removal is planned. */
  readonly removedOn: string | null;
  /** Any one of these scopes is enough. If the list is empty, no scope is needed. */
  readonly scopes: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly body: { readonly types: readonly string[]; readonly media: Media } | null;
  readonly responses: readonly Response[];
}

export interface Tag {
  readonly name: string;
  readonly description: string;
}

/** The parsed OpenAPI description. */
export interface Description {
  readonly introduction: string;
  readonly tags: readonly Tag[];
  readonly operations: readonly DescribedOperation[];
  /** Returns the schema that `$ref` names, or the given schema if it has no `$ref`. */
  resolve(schema: Schema): Schema;
}

type Tree = Readonly<Record<string, unknown>>;

/** Parses the text of `/openapi.json`. */
export function readDescription(text: string): Description {
  const root = parseExactJson(text) as Tree;

  function resolve<T>(node: T): T {
    const reference = (node as { readonly $ref?: string }).$ref;
    if (reference === undefined) return node;
    const target = reference
      .replace('#/', '')
      .split('/')
      .reduce<unknown>((found, name) => (found as Tree)[name], root);
    return target as T;
  }

  const paths = root['paths'] as Readonly<Record<string, Readonly<Record<string, Tree>>>>;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => readOperation(method, path, operation, resolve)),
  );
  return {
    introduction: String((root['info'] as Tree)['description']),
    tags: addMissing(root['tags'] as readonly Tag[], operations),
    operations,
    resolve,
  };
}

/** Adds the tags that operations use but the description does not list. */
function addMissing(tags: readonly Tag[], operations: readonly DescribedOperation[]): Tag[] {
  const known = new Set(tags.map(({ name }) => name));
  const others = new Set(operations.map(({ tag }) => tag)).difference(known);
  return [...tags, ...[...others].map((name) => ({ name, description: '' }))];
}

type Resolve = <T>(node: T) => T;

function readOperation(method: string, path: string, operation: Tree, resolve: Resolve): DescribedOperation {
  const [tag] = operation['tags'] as [string];
  return {
    id: String(operation['operationId']),
    method: method.toUpperCase(),
    path,
    tag,
    summary: String(operation['summary']),
    description: String(operation['description']),
    isBeta: operation['x-stability'] === 'beta',
    removedOn: (operation['x-sunset'] as string | undefined) ?? null,
    scopes: [operation['x-scope'] ?? []].flat() as string[],
    parameters: (operation['parameters'] as readonly Parameter[]).map(resolve),
    body: readBody(operation['requestBody'] as Tree | undefined),
    responses: Object.entries(operation['responses'] as Readonly<Record<string, Tree>>).map(
      ([status, response]) => readResponse(status, resolve(response), resolve),
    ),
  };
}

function readBody(requestBody: Tree | undefined): DescribedOperation['body'] {
  const content = Object.entries((requestBody?.['content'] ?? {}) as Readonly<Record<string, Media>>);
  const [first] = content;
  return first === undefined ? null : { types: content.map(([type]) => type), media: first[1] };
}

function readResponse(status: string, response: Tree, resolve: Resolve): Response {
  const headers = Object.entries((response['headers'] ?? {}) as Readonly<Record<string, Header>>);
  const [body] = Object.values((response['content'] ?? {}) as Readonly<Record<string, Media>>);
  return {
    status,
    description: String(response['description']),
    headers: Object.fromEntries(headers.map(([name, header]) => [name, resolve(header)])),
    body: body ?? null,
  };
}
