import type { Parameter, Schema } from './parameters.ts';
import type { RequestExample } from './samples.ts';

/** The client methods whose names do not follow from their operations. */
const exceptions: Readonly<Record<string, string>> = {
  getAccount: 'account',
  getInventory: 'store.inventory',
};

/** Writes a request as a program with our client, which reads the key from `ANIMAL_STORE_KEY`. */
export function writeTypeScript(request: RequestExample, baseUrl: string): string {
  const { operation, pathValues, queryValues, body, answer } = request;
  const values = [
    ...pathValues.map(({ example, schema }) => writeLiteral(example, schema)),
    ...(body === null ? [] : [writeLiteral(body.value, body.schema)]),
    ...(queryValues.length === 0 ? [] : [writeQuery(queryValues)]),
  ];
  const call = `client.${nameMethod(operation)}(${values.join(', ')})`;
  return [
    "import { AnimalStore } from '@animal-store/client';",
    '',
    `const client = new AnimalStore({ baseUrl: '${baseUrl}' });`,
    ...uses[answer](call),
  ].join('\n');
}

const uses: Readonly<Record<RequestExample['answer'], (call: string) => string[]>> = {
  nothing: (call) => [`await ${call};`],
  list: (call) => [`const page = await ${call};`, 'for (const item of page.items) console.log(item);'],
  array: (call) => [`for (const item of await ${call}) console.log(item);`],
  object: (call) => [`const answer = await ${call};`, 'console.log(answer);'],
};

/** Returns the client method of an operation: `webhooks.rotateSecret` for `rotateWebhookSecret`. */
function nameMethod({ id, tag }: RequestExample['operation']): string {
  const noun = /(?:Pets?|Categor(?:y|ies)|Orders?|Events?|Keys?|Webhooks?)/;
  return exceptions[id] ?? `${tag}.${id.replace(noun, '')}`;
}

function writeQuery(values: readonly Parameter[]): string {
  const members = values.map(({ name, schema, example }) => `${name}: ${writeLiteral(example, schema)}`);
  return `{ ${members.join(', ')} }`;
}

/** Writes a value as a TypeScript literal. An int64 becomes a bigint literal. */
function writeLiteral(value: unknown, { format, items = {}, properties = {} }: Schema): string {
  if (typeof value === 'number') return format === 'int64' ? `${value}n` : String(value);
  if (typeof value === 'string') return `'${JSON.stringify(value).slice(1, -1).replaceAll("'", "\\'")}'`;
  if (Array.isArray(value)) return `[${value.map((item) => writeLiteral(item, items)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${name}: ${writeLiteral(member, properties[name] ?? {})}`,
  );
  return `{ ${members.join(', ')} }`;
}
