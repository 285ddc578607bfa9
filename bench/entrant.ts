import { join } from 'node:path';
import type { Request } from './exchange.ts';
import { sendHeads } from './head-load.ts';
import { type RunningServer, startServer } from './processes.ts';
import type { Scenario, Walk } from './scenarios.ts';
import { copyStore, type SeededStore } from './store.ts';
import { type Subject, withKey } from './subjects.ts';
import { type Load, type Seen, sendByWrk, writeRequests } from './wrk.ts';

/** What servers are started on. */
export interface Site {
  readonly folder: string;
  readonly store: SeededStore;
  readonly walk: Walk;
}

/** What is measured, and how much of it. */
export interface Plan extends Site {
  readonly rounds: number;
  readonly seconds: number;
}

/** A subject that is running, with what it is sent. */
export interface Entrant {
  readonly subject: Subject;
  readonly server: RunningServer;
  readonly runs: Run[];
  /** Loads it for some seconds and reads its CPU time. Each load goes on where the last one ended. */
  run(seconds: number): Promise<Run>;
}

export interface Run extends Seen {
  /** CPU per request; NaN if the system does not tell. */
  readonly cpuUs: number;
}

/** What a subject is started with beside its store. */
export interface Start {
  readonly recordedFile: string;
  /** Node's flags, for a profile. */
  readonly nodeFlags?: readonly string[];
}

/** Starts a subject for a scenario on a fresh copy of the store. */
export function startSubject(
  subject: Subject,
  scenario: Scenario,
  { folder, store, walk }: Site,
  { recordedFile, nodeFlags = [] }: Start,
): Promise<RunningServer> {
  const storeFile = copyStore(store, folder, subject.name);
  const ground = { folder, store, recordedFile, storeFile, settings: scenario.settings ?? {} };
  const [first] = subject.requests(scenario, walk);
  if (first === undefined) throw new Error(`${scenario.name} has no requests`);
  return startServer(
    (port) => {
      const command = subject.build(port, ground);
      return { ...command, args: [...nodeFlags, ...command.args] };
    },
    first,
    withKey(store),
    join(folder, `${subject.name}.log`),
  );
}

/** A running subject that can be loaded with the requests. */
export function makeEntrant(
  subject: Subject,
  server: RunningServer,
  { connections, headers = {} }: Scenario,
  { folder, store }: Site,
  requests: readonly Request[],
): Entrant {
  const file = join(folder, `${subject.name}.requests`);
  writeRequests(file, requests);
  const load = { requests, connections, headers: { ...withKey(store), ...headers } };
  const isHead = requests[0]?.method === 'HEAD';
  const send = (skipped: number, seconds: number): Promise<Seen> => {
    const rest: Load = { ...load, skipped };
    return isHead ? sendHeads(server.origin, rest, seconds) : sendByWrk(server.origin, rest, file, seconds);
  };
  let sent = 0;
  return {
    subject,
    server,
    runs: [],
    async run(seconds) {
      const before = server.readCpuMs();
      const seen = await send(sent, seconds);
      const cpuMs = server.readCpuMs() - before;
      sent += seen.requests;
      return { ...seen, cpuUs: (cpuMs * 1_000) / seen.requests };
    },
  };
}
