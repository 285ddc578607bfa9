import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { AnimalStore, NotFoundError } from '../../../client/src/index.ts';
import { root } from '../../docs/markdown.ts';
import { serveInProcess } from '../../support/processes.ts';
import { whyNoPython } from '../../support/python.ts';
import { startService } from '../../support/service.ts';
import { allows, type Description, isLater, listOperations, resolve } from './description.ts';

const run = promisify(execFile);
const skip = await whyNoPython();

async function readDescription(url: string): Promise<Description> {
  return (await (await fetch(new URL('/openapi.json', url))).json()) as Description;
}

const { app } = await startService({ after });
/** The description of this release. The two clients are generated from it. */
const description = await readDescription(app.url);
const { schemas = {} } = description.components;

/** What a later release has in place of a text of a file. */
const additions = {
  'src/events/event.ts': ["'pet.deleted'] as const", "'pet.deleted', 'pet.renamed'] as const"],
  'src/errors.ts': ['  not_found: 404,', '  not_found: 404, animal_lost: 404,'],
  'src/http/api/pets.ts': ["new AppError('not_found'", "new AppError('animal_lost'"],
} as const;

/** Changes the declarations of a process before it reads them. */
const grow = `import { registerHooks } from 'node:module';
const additions = Object.entries(${JSON.stringify(additions)});
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const [, [before, after] = []] = additions.find(([path]) => url.endsWith(path)) ?? [];
    if (before === undefined) return loaded;
    const source = String(loaded.source);
    if (!source.includes(before)) throw new Error(url + ' has no ' + before);
    return { ...loaded, source: source.replaceAll(before, after) };
  },
});`;

/** Starts a later release, whose store has an event of the new type between two of known types. */
async function startLater() {
  const service = await serveInProcess(
    { after },
    { settings: { ENVIRONMENT: 'development' }, preload: grow },
  );
  const { url, key } = service;
  if (key === null) throw new Error('the service has not created a key');
  const client = new AnimalStore({ apiKey: key, baseUrl: url, onDeprecation: () => {} });
  await client.pets.create({ name: 'Rex', categoryId: 1 });
  const file = new DatabaseSync(service.settings.DATABASE_URL.replace('sqlite:', ''));
  file.exec("insert into events (type, pet_id, data) select 'pet.renamed', pet_id, data from events");
  file.close();
  await client.pets.create({ name: 'Tom', categoryId: 1 });
  const ask = async (path: string) =>
    (await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })).json();
  return { url, key, client, ask };
}

const later = await startLater();
const newTypes = ['pet.added', 'pet.renamed', 'pet.added'];

test('the later release of these tests declares another event type', async () => {
  const { components } = await readDescription(later.url);
  assert.match(JSON.stringify(components['schemas']?.['EventType']), /"pet\.renamed"/);
});

test('the description of before allows a page of events with a new type', async () => {
  const page = (await later.ask('/events')) as { type: string }[];
  assert.deepEqual(
    page.map(({ type }) => type),
    newTypes,
  );
  const schema = { type: 'array', items: schemas['StoreEvent'] };
  assert.ok(allows(description, schema, page));
});

test('the description still refuses an event of a known type with other data', () => {
  const event = { id: 'evt_0000000001G5cPz8', timestamp: '2027-01-02T12:00:00.000Z', data: {} };
  const schema = schemas['StoreEvent'] ?? assert.fail();
  assert.ok(!allows(description, schema, { ...event, type: 'pet.added' }));
  assert.ok(allows(description, schema, { ...event, type: 'pet.renamed' }));
});

test('the description of before allows an error with a new code', async () => {
  const error = (await later.ask('/pets/404')) as { code: string };
  assert.equal(error.code, 'animal_lost');
  assert.ok(allows(description, schemas['Error'] ?? assert.fail(), error));
});

test('the TypeScript client of before returns an event of a new type', async () => {
  const { items } = await later.client.events.list();
  assert.deepEqual(
    items.map(({ type }) => type),
    newTypes,
  );
});

test('the TypeScript client of before throws an error with a new code', async () => {
  await assert.rejects(
    () => later.client.pets.get(404),
    (error) => error instanceof NotFoundError && error.code === 'animal_lost',
  );
});

const program = `import animal_store
client = animal_store.AnimalStore(on_deprecation=lambda _: None)
print([event["type"] for event in client.events.list().items])
try:
    client.pets.get(404)
except animal_store.NotFoundError as error:
    print(error.code)
`;

test('the Python client of before reads an event of a new type and an error with a new code', {
  skip,
}, async () => {
  const env = {
    PATH: process.env['PATH'],
    PYTHONPATH: join(root, 'client-python'),
    PYTHONDONTWRITEBYTECODE: '1',
    ANIMAL_STORE_URL: later.url,
    ANIMAL_STORE_KEY: later.key,
  };
  const { stdout } = await run('python3', ['-c', program], { env });
  assert.equal(stdout, `['pet.added', 'pet.renamed', 'pet.added']\nanimal_lost\n`);
});

interface Node {
  readonly $ref?: string;
  readonly enum?: readonly string[];
  readonly maxItems?: number;
  readonly anyOf?: readonly Node[];
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
}

interface Found {
  readonly place: string;
  readonly schema: Node;
  /** True for the known values of an open enumeration, and for the `type` that tells a known variant from the others. */
  readonly isOpen: boolean;
}

/** Yields a schema and all schemas inside it. */
function* walk(node: Node, place: string, isOpen = false): Generator<Found> {
  const schema = resolve<Node>(description, node);
  const name = node.$ref?.replace(/^.*\//, '') ?? place;
  yield { place: name, schema, isOpen };
  const { anyOf = [], items, properties = {} } = schema;
  for (const variant of anyOf) yield* walk(variant, name, anyOf.some(isLater));
  if (items !== undefined) yield* walk(items, name);
  for (const [field, member] of Object.entries(properties))
    yield* walk(member, `${name}.${field}`, isOpen && field === 'type');
}

type Content = Readonly<Record<string, { readonly schema: object }>>;

const listSchemas = (content: Content = {}, place = '') =>
  Object.values(content).flatMap(({ schema }) => [...walk(schema, place)]);

const operations = [...listOperations(description)];
const sent = operations.flatMap(([id, { requestBody, parameters }]) => [
  ...listSchemas(requestBody?.content, id),
  ...parameters.flatMap((one) => [...walk(resolve<{ schema: object }>(description, one).schema, id)]),
]);
const message = description.webhooks['event']?.['post']?.requestBody?.content;
const received = [
  ...operations.flatMap(([id, { responses }]) =>
    Object.values(responses).flatMap((one) =>
      listSchemas(resolve<{ content?: Content }>(description, one).content, id),
    ),
  ),
  ...listSchemas(message, 'message'),
];

const namesOf = (found: readonly Found[]) => [...new Set(found.map(({ place }) => place))].sort();

test('the status of an animal and that of an order are the only closed enumerations in responses', () => {
  const closed = received.filter(({ schema, isOpen }) => schema.enum !== undefined && !isOpen);
  assert.deepEqual(namesOf(closed), ['OrderStatus', 'PetStatus']);
});

test('every enumeration in a request is closed', () => {
  assert.ok(sent.some(({ place }) => place === 'EventType'));
  assert.deepEqual(namesOf(sent.filter(({ schema }) => schema.anyOf?.some(isLater))), []);
});

test('a list of known values may have 100 items, however many values are known', () => {
  const isChoice = ({ items }: Node) =>
    items !== undefined && [...walk(items, '')].some(({ schema }) => schema.enum !== undefined);
  const lists = [...sent, ...received].filter(({ schema }) => isChoice(schema));
  assert.deepEqual(new Set(lists.map(({ schema }) => schema.maxItems)), new Set([100]));
});
