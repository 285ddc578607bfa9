/**
 * The reference for creates: node:http and node:sqlite with `synchronous=FULL`. It validates nothing and commits every
 * insert separately. Its answers have the recorded headers of the service and their own Content-Length.
 *
 * Arguments:
 * - the port
 * - the SQLite file
 * - a file with the recorded answers
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import type { Recorded } from '../recording.ts';

const [, , port, storeFile = '', recordedFile = ''] = process.argv;
const { keepAliveMs, answers } = JSON.parse(readFileSync(recordedFile, 'utf8')) as Recorded;
const headers = (answers.POST?.headers ?? []).filter(
  (_, index, all) => !/^content-length$/i.test(all[index - (index % 2)] ?? ''),
);

const database = new DatabaseSync(storeFile);
database.exec('pragma journal_mode = wal; pragma synchronous = full;');
const insert = database.prepare('insert into pets (name, category_id, status) values (?, ?, ?)');

const server = createServer(async (request, response) => {
  if (request.method === 'GET') {
    response.end();
    return;
  }
  const { name, categoryId, status } = JSON.parse((await request.setEncoding('utf8').toArray()).join('')) as {
    name: string;
    categoryId: number;
    status: string;
  };
  const { lastInsertRowid } = insert.run(name, categoryId, status);
  const answer = JSON.stringify({ id: lastInsertRowid, name, categoryId, status });
  response.writeHead(201, [...headers, 'content-length', Buffer.byteLength(answer)]);
  response.end(answer);
});
server.keepAliveTimeout = keepAliveMs;
server.listen(Number(port), '127.0.0.1');
