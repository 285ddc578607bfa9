/** The parts of an OpenAPI description that the generators of the clients read. */
export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Schemas };
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
}

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly format?: string;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly description?: string;
}

export type Schemas = Readonly<Record<string, Schema>>;

/** What a client needs to send a request of an operation and to read its response. */
export interface Row {
  readonly name: string;
  readonly summary: string;
  readonly method: string;
  readonly path: string;
  /** The kind of the identifier in the path, or null. */
  readonly id: string | null;
  /** The parameters of the query with their kinds. */
  readonly query: readonly (readonly [name: string, kind: string])[];
  /** The schema of the body, or null. */
  readonly body: string | null;
  readonly isIdempotent: boolean;
  /** The schema of the first successful response. Null if it has no body. */
  readonly answer: Schema | null;
  /** The kind of `answer`. */
  readonly answerKind: string | null;
}

/** Returns all operations of a description, in its order. */
export function listOperations({ paths }: Description) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

export function listRows(description: Description): readonly Row[] {
  const { schemas } = description.components;
  return listOperations(description).map(({ path, method, operation }) => {
    const { operationId, summary, parameters } = operation;
    const [parameter] = listParameters(operation, 'path');
    const answer = findAnswer(operation);
    return {
      name: operationId,
      summary,
      method: method.toUpperCase(),
      path,
      id: parameter === undefined ? null : nameKind(parameter.schema, schemas),
      query: listParameters(operation, 'query').map(({ name, schema }) => [name, nameKind(schema, schemas)]),
      body: nameBody(operation),
      isIdempotent: parameters.some((one) => '$ref' in one && one.$ref.endsWith('/Idempotency-Key')),
      answer,
      answerKind: answer === null ? null : nameKind(answer, schemas),
    };
  });
}

export function listParameters({ parameters }: Operation, place: string): readonly Parameter[] {
  return parameters.filter((one): one is Parameter => 'in' in one && one.in === place);
}

export function nameBody({ requestBody }: Operation): string | null {
  const schema = requestBody?.content['application/json']?.schema;
  return schema?.$ref === undefined ? null : nameTarget(schema.$ref);
}

/** Returns the schema of the first successful response. Returns null if it has no body. */
function findAnswer({ responses }: Operation): Schema | null {
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  return success?.content?.['application/json']?.schema ?? null;
}

/** Returns the name of the schema to which a `$ref` leads. */
export function nameTarget(reference: string): string {
  return reference.split('/').at(-1) ?? '';
}

/**
 * Returns the kind of a value: `string`, `bigint` (an int64), `number`, `object`, `any` (a string or a number) or the name
 * of a schema. `[]` marks an array, and `?` a value that may be null.
 */
function nameKind(schema: Schema, schemas: Schemas): string {
  if (schema.$ref !== undefined) {
    const name = nameTarget(schema.$ref);
    return schemas[name]?.enum === undefined ? name : 'string';
  }
  if (schema.items !== undefined) return `${nameKind(schema.items, schemas)}[]`;
  if (schema.anyOf !== undefined) {
    const others = schema.anyOf.filter(({ type }) => type !== 'null');
    const [kind, ...more] = new Set(others.map((one) => nameKind(one, schemas)));
    return `${more.length === 0 ? kind : 'any'}${others.length < schema.anyOf.length ? '?' : ''}`;
  }
  if (Array.isArray(schema.type)) return `${nameKind(withoutNull(schema), schemas)}?`;
  if (schema.type === 'integer') return isInt64(schema) ? 'bigint' : 'number';
  return String(schema.type);
}

/** The kinds of the fields of a schema, by name. */
export type Shape = ReadonlyMap<string, string>;

/**
 * Returns the shapes of the schemas that have fields. `?` also marks a field that may be absent. A union has the required
 * fields that all its variants share.
 */
export function listShapes(schemas: Schemas): readonly (readonly [name: string, shape: Shape])[] {
  return Object.entries(schemas)
    .map(([name, schema]) => [name, readShape(schema, schemas)] as const)
    .filter(([, shape]) => shape.size > 0);
}

function readShape(schema: Schema, schemas: Schemas): Shape {
  const variants = (schema.anyOf ?? [schema]).map((one) => listKinds(resolve(one, schemas), schemas));
  const [first = new Map<string, string>()] = variants;
  const shared = [...first]
    .filter(([field]) => variants.every((kinds) => kinds.has(field)))
    .map(([field, kind]) => {
      const isSame = variants.every((kinds) => kinds.get(field) === kind);
      return [field, isSame ? kind : 'object'] as const;
    });
  return new Map(shared);
}

function listKinds({ properties = {}, required = [] }: Schema, schemas: Schemas): Map<string, string> {
  return new Map(
    Object.entries(properties).map(([field, schema]) => {
      const kind = nameKind(schema, schemas);
      return [field, required.includes(field) || kind.endsWith('?') ? kind : `${kind}?`];
    }),
  );
}

/** Returns the schema itself, or the one to which it refers. */
export function resolve(schema: Schema, schemas: Schemas): Schema {
  return schema.$ref === undefined ? schema : (schemas[nameTarget(schema.$ref)] ?? {});
}

/**
 * Returns the enumeration of the known values if the schema is an open enumeration: any text is valid, because a newer service
 * may send other values. Otherwise returns null.
 */
export function findKnownValues({ anyOf = [] }: Schema, schemas: Schemas): Schema | null {
  return anyOf.find((one) => resolve(one, schemas).enum !== undefined) ?? null;
}

/** Returns the schemas that are variants of unions. Their `type` tells them apart. */
export function listVariants(schemas: Schemas): ReadonlySet<string> {
  const unions = Object.values(schemas).flatMap(({ anyOf = [] }) => anyOf);
  return new Set(unions.map(({ $ref = '' }) => nameTarget($ref)));
}

/** Returns the schema of the other values of a schema that accepts null. */
export function withoutNull({ type, enum: choices, ...others }: Schema): Schema {
  const [own = ''] = [type].flat();
  const named = choices?.filter((choice) => choice !== null);
  return { ...others, type: own, ...(named && { enum: named }) };
}

/** True if a JavaScript number could lose digits of the value. */
export function isInt64({ maximum = 0 }: Schema): boolean {
  return maximum > Number.MAX_SAFE_INTEGER;
}

export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
