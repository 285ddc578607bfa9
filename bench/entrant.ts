import { join } from 'node:path';
import { type RunningServer, startServer } from './processes.ts';
import type { Quiet } from './quiet.ts';
import { record } from './recording.ts';
import type { Scenario, Walk } from './scenarios.ts';
import { copyStore, type SeededStore } from './store.ts';
import { type Subject, withKey } from './subjects.ts';
import { withService } from './with-service.ts';
import { type Load, type Seen, sendLoad, writeRequests } from './wrk.ts';

/** How much is measured, and where its files go. */
export interface Terms {
  readonly folder: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly quiet: Quiet;
}

/** What servers are started on. */
export interface Site {
  readonly folder: string;
  readonly store: SeededStore;
  readonly walk: Walk;
}

/** What all the measurements of a store have in common. */
export interface Plan extends Terms, Site {}

/** A subject that is running, with what it is sent. */
export interface Entrant {
  readonly subject: Subject;
  readonly site: Site;
  readonly server: RunningServer;
  readonly load: Load;
  readonly requestsFile: string;
  readonly runs: Run[];
}

export interface Run extends Seen {
  readonly cpuUs: number | null;
  readonly coreShare: number | null;
}

/** The service's own answers to the scenario, for the bare server to send. */
export function recordService(scenario: Scenario, { folder, store, walk }: Site): Promise<string> {
  const requests = scenario.requests(walk);
  return withService(folder, store, (origin) => record(folder, origin, requests, withKey(store)));
}

/** Starts a subject for a scenario on a fresh copy of the store. */
export async function enter(
  subject: Subject,
  scenario: Scenario,
  recordedFile: string,
  site: Site,
): Promise<Entrant> {
  const { folder, store, walk } = site;
  const ground = { folder, store, recordedFile, storeFile: copyStore(store, folder, subject.name) };
  const requests = subject.requests(scenario, walk);
  const [first] = requests;
  if (first === undefined) throw new Error(`${scenario.name} has no requests`);
  const headers = withKey(store);
  const server = await startServer(
    (port) => subject.build(port, ground),
    first,
    headers,
    join(folder, `${subject.name}.log`),
  );
  return {
    subject,
    site,
    server,
    load: { requests, headers, connections: scenario.connections },
    requestsFile: writeRequests(folder, subject.name, requests),
    runs: [],
  };
}

/**
 * The connections of the rounds that warm a server up, its own number where there is none: V8 compiles what has run
 * often, for some seconds on the one core that the server has, and with one connection little runs.
 */
export const warmUps: readonly (number | undefined)[] = [64, 64, 64, undefined];

/** Loads an entrant for some seconds and reads what it cost its server. */
export async function runOnce(
  { server, load, requestsFile }: Entrant,
  seconds: number,
  connections = load.connections,
): Promise<Run> {
  const cpuBeforeMs = server.readCpuMs();
  const seen = await sendLoad(server.origin, { ...load, connections }, requestsFile, seconds);
  const cpuAfterMs = server.readCpuMs();
  const cpuMs = cpuBeforeMs === null || cpuAfterMs === null ? null : cpuAfterMs - cpuBeforeMs;
  return {
    ...seen,
    cpuUs: cpuMs === null ? null : (cpuMs * 1_000) / seen.requests,
    coreShare: cpuMs === null ? null : cpuMs / (seen.seconds * 1_000),
  };
}
