import { join } from 'node:path';
import type { Request, RequestHeaders } from './exchange.ts';
import type { Command } from './processes.ts';
import type { Scenario, Walk } from './scenarios.ts';
import { type SeededStore, serviceEntry, serviceEnvironment } from './store.ts';

/** The files and settings that a subject starts with. */
export interface Ground {
  readonly folder: string;
  readonly store: SeededStore;
  /** A copy of the store for this subject and scenario. */
  readonly storeFile: string;
  /** The recorded answers of the service. */
  readonly recordedFile: string;
  /** Settings of the service. */
  readonly settings: Readonly<Record<string, string>>;
}

/** A server to measure. */
export interface Subject {
  readonly name: string;
  readonly isFor: (scenario: Scenario) => boolean;
  /** True for a peer. If a peer fails, the benchmark continues without it. */
  readonly isPeer: boolean;
  readonly build: (port: number, ground: Ground) => Command;
  readonly requests: (scenario: Scenario, walk: Walk) => readonly Request[];
}

/** Returns the headers of every request, including requests to the peers. */
export function withKey({ key }: SeededStore): RequestHeaders {
  return { authorization: `Bearer ${key}` };
}

/** Returns the command that runs a program with this Node, without flags. */
export function onNode(args: readonly string[]): Pick<Command, 'file' | 'args'> {
  return { file: process.execPath, args };
}

const serverFile = (name: string) => join(import.meta.dirname, 'servers', name);
export const bareServerFile = serverFile('bare.ts');
export const bareBesideFile = serverFile('bare-beside.ts');
const ownRequests: Subject['requests'] = (scenario, walk) => scenario.requests(walk);

/** The service, started as a supervisor starts it. */
export const service: Subject = {
  name: 'service',
  isFor: () => true,
  isPeer: false,
  build: (port, { storeFile, settings }) => ({
    ...onNode([serviceEntry, 'serve']),
    environment: { ...serviceEnvironment(storeFile), PORT: String(port), OPS_PORT: '0', ...settings },
  }),
  requests: ownRequests,
};

/** The service with a log line for each request, as the Fastify peer logs by default. */
export const loggingService: Subject = {
  ...service,
  name: 'service, logging every request',
  isFor: ({ peerOperation }) => peerOperation !== null,
  build: (port, ground) =>
    service.build(port, { ...ground, settings: { ...ground.settings, LOG_REQUESTS: 'all' } }),
};

/** node:http that sends the service's bytes from memory. Every ratio is relative to it. */
export const bare: Subject = {
  name: 'bare node:http',
  isFor: () => true,
  isPeer: false,
  build: (port, { recordedFile }) => onNode([bareServerFile, String(port), recordedFile]),
  requests: ownRequests,
};

/** A server that commits every create separately. */
export const commitEach: Subject = {
  name: 'node:http + node:sqlite, one commit per create',
  isFor: ({ name }) => name === 'create-alone',
  isPeer: false,
  build: (port, { storeFile, recordedFile }) =>
    onNode([serverFile('commit-each.ts'), String(port), storeFile, recordedFile]),
  requests: ownRequests,
};
