import { join } from 'node:path';
import { createEdits } from './edits.ts';
import type { Request } from './exchange.ts';
import { sendHeads } from './head-load.ts';
import { type RunningServer, startServer } from './processes.ts';
import { hotPage, type Scenario, type Walk } from './scenarios.ts';
import { copyStore, type SeededStore } from './store.ts';
import { type Subject, service, withKey } from './subjects.ts';
import { type Load, type Seen, sendByWrk, writeRequests } from './wrk.ts';

/** The folder and the store of the servers, and the addresses of their pages. */
export interface Site {
  readonly folder: string;
  readonly store: SeededStore;
  readonly walk: Walk;
}

/** The site and the extent of a measurement. */
export interface Plan extends Site {
  readonly rounds: number;
  readonly seconds: number;
}

/** A running subject with its requests. */
export interface Entrant {
  readonly subject: Subject;
  readonly server: RunningServer;
  readonly runs: Run[];
  /** Loads the server for `seconds` and reads its CPU time. Each load continues where the previous load ended. */
  run(seconds: number): Promise<Run>;
}

export interface Run extends Seen {
  /** CPU per request. NaN if the system does not report it. */
  readonly cpuUs: number;
}

/** Options for the start of a subject. */
export interface Start {
  readonly recordedFile: string;
  /** Flags for Node, such as those of a profile. */
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
  const ready = subject.isPeer ? subject.requests(scenario, walk)[0] : hotPage;
  if (ready === undefined) throw new Error(`${scenario.name} has no requests`);
  return startServer(
    (port) => {
      const command = subject.build(port, ground);
      return { ...command, args: [...nodeFlags, ...command.args] };
    },
    ready,
    withKey(store),
    join(folder, `${subject.name}.log`),
  );
}

export function makeEntrant(
  subject: Subject,
  server: RunningServer,
  { name, connections, headers = {}, isKeyed = false, editsPerSecond = 0 }: Scenario,
  { folder, store }: Site,
  requests: readonly Request[],
): Entrant {
  const file = join(folder, `${subject.name}.requests`);
  writeRequests(file, requests);
  const load = { requests, connections, headers: { ...withKey(store), ...headers } };
  const isHead = requests[0]?.method === 'HEAD';
  const edits =
    editsPerSecond > 0 && subject === service ? createEdits(server.origin, store, editsPerSecond) : null;
  const send = (skipped: number, seconds: number): Promise<Seen> => {
    const rest: Load = { ...load, skipped, ...(isKeyed && { keyPrefix: `${name}-${skipped}-` }) };
    return isHead ? sendHeads(server.origin, rest, seconds) : sendByWrk(server.origin, rest, file, seconds);
  };
  // The recording has already sent the first request, and some requests succeed only once.
  let sent = 1;
  return {
    subject,
    server,
    runs: [],
    async run(seconds) {
      const before = server.readCpuMs();
      const sending = send(sent, seconds);
      const seen = await (edits === null ? sending : edits.beside(sending));
      const cpuMs = server.readCpuMs() - before;
      // `seen.requests` lacks the requests that were still running at the end, at most one per connection.
      sent += seen.requests + connections;
      return { ...seen, cpuUs: (cpuMs * 1_000) / seen.requests };
    },
  };
}
