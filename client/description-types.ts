/** The part of an OpenAPI description that types are made from. */
export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly items?: Schema;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly description?: string;
}

interface Field {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string | undefined;
}

/** Whether a value comes from the service or goes to it: a number may go for an int64, but never comes. */
type Direction = 'from the service' | 'to the service';

const lineLengthMax = 110;
const header = '// Made by client/generate.ts from the /openapi.json of the service; not to be edited.';

/** The TypeScript source of a description. Throws where the description has what nothing is known of here. */
export function writeTypes({ paths, components }: Description): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const sent = new Set(operations.map(({ operation }) => nameBody(operation)));
  const schemas = Object.entries(components.schemas).flatMap(([name, schema]) =>
    writeSchema(name, schema, sent.has(name) ? 'to the service' : 'from the service'),
  );
  const queries = operations.flatMap(({ operation }) => writeQuery(operation));
  const rows = operations.map(
    ({ path, method, operation: { operationId, summary } }) =>
      `  /** ${summary}. */\n  ${operationId}: { method: '${method.toUpperCase()}', path: '${path}' },`,
  );
  const table = `export const operations = {\n${rows.join('\n')}\n} as const;`;
  return `${[header, ...schemas, ...queries, table].join('\n\n')}\n`;
}

function nameBody({ requestBody }: Operation): string | null {
  const schema = requestBody?.content['application/json']?.schema;
  return schema?.$ref === undefined ? null : nameTarget(schema.$ref);
}

function nameTarget(reference: string): string {
  return reference.split('/').at(-1) ?? '';
}

function writeSchema(name: string, schema: Schema, direction: Direction): string[] {
  if (schema.enum !== undefined) return [writeUnion(name, schema.enum, schema.description)];
  if (schema.type !== 'object') throw new Error(`${name}: no type is known for ${JSON.stringify(schema)}`);
  const unions: string[] = [];
  const fields = Object.entries(schema.properties ?? {}).map(([field, value]): Field => {
    const { description } = value;
    const isRequired = schema.required?.includes(field) === true;
    if (value.enum === undefined)
      return { name: field, type: nameType(value, direction), isRequired, description };
    const union = name + capitalise(field);
    unions.push(writeUnion(union, value.enum, description));
    return { name: field, type: union, isRequired, description };
  });
  // A type named Error would hide JavaScript's own.
  return [...unions, writeInterface(name === 'Error' ? 'ErrorBody' : name, fields, schema.description)];
}

function writeQuery({ operationId, summary, parameters }: Operation): string[] {
  const inQuery = parameters.filter((one): one is Parameter => 'in' in one && one.in === 'query');
  if (inQuery.length === 0) return [];
  const fields = inQuery.map(({ name, required, description, schema }) => ({
    name,
    type: nameType(schema, 'to the service'),
    isRequired: required,
    description,
  }));
  return [writeInterface(`${capitalise(operationId)}Query`, fields, `${summary}: what the query may hold.`)];
}

function nameType(schema: Schema, direction: Direction): string {
  if (schema.$ref !== undefined) return nameTarget(schema.$ref);
  if (schema.items !== undefined) return `readonly (${nameType(schema.items, direction)})[]`;
  if (schema.type === 'string') return 'string';
  if (schema.type !== 'integer') throw new Error(`no type is known for ${JSON.stringify(schema)}`);
  if (schema.format !== 'int64') return 'number';
  return direction === 'to the service' ? 'bigint | number' : 'bigint';
}

function writeInterface(name: string, fields: readonly Field[], description: string | undefined): string {
  const lines = fields.map(
    (field) =>
      `${comment(field.description, '  ')}  readonly ${field.name}${field.isRequired ? '' : '?'}: ${field.type}${field.isRequired ? '' : ' | undefined'};`,
  );
  return `${comment(description)}export interface ${name} {\n${lines.join('\n')}\n}`;
}

function writeUnion(name: string, values: readonly string[], description: string | undefined): string {
  const literals = values.map((value) => `'${value}'`);
  const line = `export type ${name} = ${literals.join(' | ')};`;
  const lines = `export type ${name} =\n${literals.map((literal) => `  | ${literal}`).join('\n')};`;
  return comment(description) + (line.length <= lineLengthMax ? line : lines);
}

function comment(text: string | undefined, indent = ''): string {
  return text === undefined ? '' : `${indent}/** ${text} */\n`;
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
