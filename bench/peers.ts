import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Request } from './exchange.ts';
import { randomIds } from './ids.ts';
import type { PeerData } from './peer-data.ts';
import type { Command } from './processes.ts';
import type { Operation, Walk } from './scenarios.ts';
import { type Ground, onNode, type Subject } from './subjects.ts';
import { newAnimal } from './writes.ts';

/** An alternative to the service. */
export interface Peer {
  readonly name: string;
  /** The folder under `peers/` that has the peer's package.json. */
  readonly folder: string;
  readonly build: (port: number, ground: Ground, data: PeerData) => Omit<Command, 'folder'>;
  /** The requests for each operation. */
  readonly requests: Readonly<Record<Operation, (walk: Walk) => readonly Request[]>>;
}

export function peerFolder({ folder }: Pick<Peer, 'folder'>): string {
  return join(import.meta.dirname, 'peers', folder);
}

/** README.md lists the promises of the service that each peer lacks. */
export const peers: readonly Peer[] = [
  {
    name: 'Fastify + better-sqlite3, written in an afternoon',
    folder: 'afternoon',
    build: (port, ground, { database }) => ({
      ...onNode(['server.js']),
      environment: {
        PORT: String(port),
        DATABASE: copyFor(ground, 'afternoon.db', database),
        API_KEY: ground.store.key,
      },
    }),
    requests: askAt('/v1/pets', '/v1/pets'),
  },
  {
    name: 'Platformatic DB',
    folder: 'platformatic',
    build: (port, ground, { database }) => ({
      ...onNode(['node_modules/wattpm/bin/cli.js', 'start', '.']),
      environment: {
        PORT: String(port),
        DATABASE_URL: `sqlite://${copyFor(ground, 'platformatic.db', database)}`,
      },
    }),
    requests: askAt('/pets', '/pets/?limit=20&orderby.id=desc'),
  },
  {
    name: 'Prism mock',
    folder: 'prism',
    build: (port, _ground, { description }) =>
      onNode([
        ...['node_modules/@stoplight/prism-cli/dist/index.js', 'mock', description],
        ...['--host', '127.0.0.1', '--port', String(port), '--verboseLevel', 'error'],
      ]),
    requests: askAt('/pets', '/pets'),
  },
  {
    name: 'json-server',
    folder: 'json-server',
    build: (port, ground, { json }) =>
      onNode([
        ...['node_modules/json-server/lib/bin.js', copyFor(ground, 'json-server.json', json)],
        ...['--host', '127.0.0.1', '--port', String(port)],
      ]),
    requests: askAt('/pets', '/pets?_page=1&_per_page=20'),
  },
];

/** Converts an installed peer into a subject. The subject takes part in the scenarios with a `peerOperation`. */
export function toSubject(peer: Peer, data: PeerData): Subject {
  return {
    name: peer.name,
    isPeer: true,
    isFor: ({ peerOperation }) => peerOperation !== null,
    build: (port, ground) => ({ ...peer.build(port, ground, data), folder: peerFolder(peer) }),
    requests: ({ peerOperation }, walk) => (peerOperation === null ? [] : peer.requests[peerOperation](walk)),
  };
}

function askAt(path: string, listPath: string): Peer['requests'] {
  return {
    list: () => [{ method: 'GET', path: listPath }],
    get: ({ animals }) => randomIds(animals).map((id) => ({ method: 'GET', path: `${path}/${id}` })),
    create: () => [{ method: 'POST', path, body: newAnimal }],
  };
}

function copyFor({ folder }: Ground, name: string, file: string): string {
  const copy = join(folder, name);
  copyFileSync(file, copy);
  return copy;
}
