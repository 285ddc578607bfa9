import type { Description, Schema } from '../description.ts';
import type { RequestExample, SampleValue } from './request-example.ts';

/** The client method of each operation. Samples of other operations use `client.request`. */
const clientCalls: Readonly<Record<string, string>> = {
  listPets: 'pets.list',
  createPet: 'pets.create',
  getPet: 'pets.get',
  updatePet: 'pets.update',
  deletePet: 'pets.delete',
  listCategories: 'categories.list',
  putCategory: 'categories.put',
  deleteCategory: 'categories.delete',
  getInventory: 'store.inventory',
  listOrders: 'orders.list',
  placeOrder: 'orders.place',
  getOrder: 'orders.get',
  completeOrder: 'orders.complete',
  cancelOrder: 'orders.cancel',
  returnOrder: 'orders.return',
  listEvents: 'events.list',
  getAccount: 'account',
  listKeys: 'keys.list',
  createKey: 'keys.create',
  rotateKey: 'keys.rotate',
  deleteKey: 'keys.delete',
  listWebhooks: 'webhooks.list',
  createWebhook: 'webhooks.create',
  getWebhook: 'webhooks.get',
  updateWebhook: 'webhooks.update',
  deleteWebhook: 'webhooks.delete',
  rotateWebhookSecret: 'webhooks.rotateSecret',
  pingWebhook: 'webhooks.ping',
};

/** Writes a request as a program with our client, which reads the key from `ANIMAL_STORE_KEY`. */
export function writeTypeScript(
  request: RequestExample,
  baseUrl: string,
  description: Pick<Description, 'resolve'>,
): string {
  const name = clientCalls[request.operationId];
  const call =
    name === undefined ? writeRequest(request, description) : writeCall(name, request, description);
  return [
    "import { AnimalStore } from '@animal-store/client';",
    '',
    `const client = new AnimalStore({ baseUrl: '${baseUrl}' });`,
    ...writeUse(call, name === undefined ? 'value' : request.answer),
  ].join('\n');
}

function writeUse(call: string, answer: RequestExample['answer'] | 'value'): string[] {
  if (answer === 'nothing') return [`await ${call};`];
  if (answer === 'list')
    return [`const page = await ${call};`, 'for (const item of page.items) console.log(item);'];
  if (answer === 'object') return [`const answer = await ${call};`, 'console.log(answer);'];
  return [`const { value } = await ${call};`, 'console.log(value);'];
}

function writeCall(name: string, request: RequestExample, description: Pick<Description, 'resolve'>): string {
  const { pathValues, body, queryValues } = request;
  const given = [
    ...pathValues.map(({ value, schema }) => writeLiteral(value, schema, description)),
    ...(body === null ? [] : [writeLiteral(body.value, body.schema, description)]),
    ...(queryValues.length === 0 ? [] : [writeQuery(queryValues, description)]),
  ];
  return `client.${name}(${given.join(', ')})`;
}

function writeRequest(request: RequestExample, description: Pick<Description, 'resolve'>): string {
  const { method, path, pathValues, queryValues, body } = request;
  const target = pathValues.reduce((text, { name, value }) => text.replace(`{${name}}`, String(value)), path);
  const options = [
    queryValues.length > 0 && `query: ${writeQuery(queryValues, description)}`,
    body && `body: ${writeLiteral(body.value, body.schema, description)}`,
  ].filter((part) => typeof part === 'string');
  const last = options.length === 0 ? '' : `, { ${options.join(', ')} }`;
  return `client.request('${method}', '${target}'${last})`;
}

function writeQuery(values: readonly SampleValue[], description: Pick<Description, 'resolve'>): string {
  const members = values.map(
    ({ name, schema, value }) => `${name}: ${writeLiteral(value, schema, description)}`,
  );
  return `{ ${members.join(', ')} }`;
}

/** Writes a value as a TypeScript literal. An int64 becomes a bigint literal. */
function writeLiteral(value: unknown, schema: Schema, { resolve }: Pick<Description, 'resolve'>): string {
  const { format, items, properties = {} } = resolve(schema);
  if (typeof value === 'bigint') return format === 'int64' ? `${value}n` : String(value);
  if (typeof value === 'string') return `'${JSON.stringify(value).slice(1, -1).replaceAll("'", "\\'")}'`;
  if (Array.isArray(value))
    return `[${value.map((item) => writeLiteral(item, items ?? {}, { resolve })).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${name}: ${writeLiteral(member, properties[name] ?? {}, { resolve })}`,
  );
  return `{ ${members.join(', ')} }`;
}
