import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeAnimals } from './animals.ts';
import { exchange } from './exchange.ts';
import type { SeededStore } from './store.ts';
import { withService } from './with-service.ts';

/** The paths of files with the animals of the service, in the formats of the peers. */
export interface PeerData {
  /** A SQLite file that has only the animals, with the same indexes as the service's file. */
  readonly database: string;
  /** A JSON file whose ids are strings, as json-server needs them. */
  readonly json: string;
  /** The OpenAPI description of the service. */
  readonly description: string;
}

export async function buildPeerData(folder: string, store: SeededStore): Promise<PeerData> {
  return {
    database: buildDatabase(folder, store.animals),
    json: buildJson(folder, store.animals),
    description: await fetchDescription(folder, store),
  };
}

function buildDatabase(folder: string, animals: number): string {
  const file = join(folder, 'peer-seed.db');
  const database = new DatabaseSync(file);
  database.exec(`
    pragma journal_mode = wal;
    create table pets (
      id integer primary key autoincrement,
      name text not null,
      category_id integer not null,
      status text not null
    );
    create index pets_by_status on pets (status desc, id);
    begin`);
  const insert = database.prepare('insert into pets (name, category_id, status) values (?, ?, ?)');
  for (const { name, categoryId, status } of makeAnimals(animals)) insert.run(name, categoryId, status);
  database.exec('commit');
  database.close();
  return file;
}

function buildJson(folder: string, animals: number): string {
  const file = join(folder, 'peer-seed.json');
  const pets = makeAnimals(animals).map((animal, index) => ({ id: String(index + 1), ...animal }));
  writeFileSync(file, JSON.stringify({ pets: [...pets] }));
  return file;
}

function fetchDescription(folder: string, store: SeededStore): Promise<string> {
  return withService(folder, store, async (origin) => {
    const file = join(folder, 'openapi.json');
    writeFileSync(file, (await exchange(origin, { method: 'GET', path: '/openapi.json' }, {})).body);
    return file;
  });
}
