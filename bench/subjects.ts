import { join } from 'node:path';
import type { Request, RequestHeaders } from './exchange.ts';
import type { Command } from './processes.ts';
import type { Scenario, Walk } from './scenarios.ts';
import { type SeededStore, serviceEntry, serviceEnvironment } from './store.ts';

/** What a subject starts with in each scenario. */
export interface Ground {
  readonly folder: string;
  readonly store: SeededStore;
  /** The store's copy for only this subject and scenario. */
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
  /** Whether the benchmark continues without it if it fails. */
  readonly isPeer: boolean;
  readonly build: (port: number, ground: Ground) => Command;
  readonly requests: (scenario: Scenario, walk: Walk) => readonly Request[];
}

/** The headers of every request, also to the peers. */
export function withKey({ key }: SeededStore): RequestHeaders {
  return { authorization: `Bearer ${key}` };
}

/** A program for Node, without any flags. */
export function onNode(args: readonly string[]): Pick<Command, 'file' | 'args'> {
  return { file: process.execPath, args };
}

const serverFile = (name: string) => join(import.meta.dirname, 'servers', name);
export const bareServerFile = serverFile('bare.ts');
const ownRequests: Subject['requests'] = (scenario, walk) => scenario.requests(walk);

/** The service, started as by a supervisor. */
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

/** The service with a log line for each request, which is what most of the peers write by default. */
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
  name: 'one commit each',
  isFor: ({ name }) => name === 'create-alone',
  isPeer: false,
  build: (port, { storeFile, recordedFile }) =>
    onNode([serverFile('commit-each.ts'), String(port), storeFile, recordedFile]),
  requests: ownRequests,
};
