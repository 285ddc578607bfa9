/**
 * A peer: list, get and create as an engineer would write them in an afternoon. It uses Fastify with response schemas,
 * @fastify/rate-limit for each key, better-sqlite3 with `synchronous=FULL`, keys stored as SHA-256, and a pino log.
 *
 * Environment variables:
 * - PORT
 * - DATABASE: a SQLite file with the animals
 * - API_KEY
 */
import { createHash } from 'node:crypto';
import rateLimit from '@fastify/rate-limit';
import Sqlite from 'better-sqlite3';
import Fastify from 'fastify';

const { PORT, DATABASE, API_KEY } = process.env;
const hashKey = (key) => createHash('sha256').update(key).digest('hex');

const database = new Sqlite(DATABASE);
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.exec('create table if not exists keys (hash text primary key, account text not null)');
database.prepare('insert or ignore into keys values (?, ?)').run(hashKey(API_KEY), 'bench');

const columns = 'id, name, category_id as categoryId, status';
const selectKey = database.prepare('select account from keys where hash = ?');
const selectPage = database.prepare(`select ${columns} from pets where id < ? order by id desc limit ?`);
const selectPageOfStatus = database.prepare(
  `select ${columns} from pets where status = ? and id < ? order by id desc limit ?`,
);
const selectPet = database.prepare(`select ${columns} from pets where id = ?`);
const insertPet = database.prepare('insert into pets (name, category_id, status) values (?, ?, ?)');

const status = { type: 'string', enum: ['available', 'pending', 'sold'] };
const newPet = {
  type: 'object',
  required: ['name', 'categoryId'],
  properties: { name: { type: 'string', minLength: 1 }, categoryId: { type: 'integer' }, status },
};
const pet = { type: 'object', properties: { id: { type: 'integer' }, ...newPet.properties } };
const listQuery = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    before: { type: 'integer', default: Number.MAX_SAFE_INTEGER },
    status,
  },
};

const server = Fastify({ logger: true });

server.addHook('onRequest', async (request, reply) => {
  const [, key] = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '') ?? [];
  const owner = key === undefined ? undefined : selectKey.get(hashKey(key));
  if (owner === undefined) return reply.code(401).send({ code: 'unauthorized', status: 401 });
  request.account = owner.account;
});
await server.register(rateLimit, {
  max: 1e12,
  timeWindow: '1 minute',
  keyGenerator: (request) => request.account,
});

server.get(
  '/v1/pets',
  { schema: { querystring: listQuery, response: { 200: { type: 'array', items: pet } } } },
  async ({ query }) =>
    query.status === undefined
      ? selectPage.all(query.before, query.limit)
      : selectPageOfStatus.all(query.status, query.before, query.limit),
);

server.get('/v1/pets/:id', { schema: { response: { 200: pet } } }, async (request, reply) => {
  const found = selectPet.get(Number(request.params.id));
  return found ?? reply.code(404).send({ code: 'not_found', status: 404 });
});

server.post('/v1/pets', { schema: { body: newPet, response: { 201: pet } } }, async (request, reply) => {
  const { name, categoryId, status = 'available' } = request.body;
  const { lastInsertRowid } = insertPet.run(name, categoryId, status);
  return reply.code(201).send({ id: lastInsertRowid, name, categoryId, status });
});

await server.listen({ host: '127.0.0.1', port: Number(PORT) });
