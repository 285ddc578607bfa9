import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { atExit } from './cleanup.ts';
import { exchange, type Request, type RequestHeaders } from './exchange.ts';
import { inheritedEnvironment } from './machine.ts';

/** The command that starts a server. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly folder?: string;
}

/** A running server in its own process group. */
export interface RunningServer {
  readonly origin: string;
  /** The id of the process and of its group. */
  readonly pid: number;
  /** The time from the start of the process to its first 2xx or 304, in milliseconds. */
  readonly coldStartMs: number;
  /** Returns the CPU time of the group so far, in milliseconds. NaN if the system does not report CPU time. */
  readCpuMs(): number;
  /** Returns the resident memory of the group in MiB. NaN if the system does not report memory. */
  readMemoryMib(): number;
  /** Resolves when the process has ended, with its exit code. Null if a signal ended the process. */
  readonly ended: Promise<number | null>;
  stop(): Promise<void>;
}

const startMsMax = 60_000;
const stopMsMax = 5_000;
const pollMs = 2;

/** Starts a server and waits until it answers `ready`. Throws an error with the end of its log if no answer comes. */
export async function startServer(
  build: (port: number) => Command,
  ready: Request,
  headers: RequestHeaders,
  logFile: string,
): Promise<RunningServer> {
  const port = await findFreePort();
  const { file, args, environment, folder } = build(port);
  const log = openSync(logFile, 'w');
  const startedMs = performance.now();
  const child = spawn(file, [...args], {
    cwd: folder,
    env: { ...inheritedEnvironment, ...environment },
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const forget = atExit(() => killGroup(child, 'SIGKILL'));
  const origin = `http://127.0.0.1:${port}`;
  const stop = async () => {
    await stopGroup(child);
    forget();
  };
  try {
    await untilReady(child, origin, ready, headers);
  } catch (error) {
    await stop();
    throw new Error(
      `${args.join(' ')} does not start: ${error}\n${readFileSync(logFile, 'utf8').slice(-2_000)}`,
    );
  }
  const coldStartMs = performance.now() - startedMs;
  const pid = child.pid ?? 0;
  return {
    origin,
    pid,
    coldStartMs,
    readCpuMs: () => sumGroup(pid, readCpuMs),
    readMemoryMib: () => sumGroup(pid, readMemoryMib),
    ended,
    stop,
  };
}

async function untilReady(
  child: ChildProcess,
  origin: string,
  ready: Request,
  headers: RequestHeaders,
): Promise<void> {
  const deadlineMs = performance.now() + startMsMax;
  let last = 'no answer';
  while (performance.now() < deadlineMs) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('the process ended');
    try {
      await exchange(origin, ready, headers);
      return;
    } catch (error) {
      last = String(error);
    }
    await pause(pollMs);
  }
  throw new Error(last);
}

/** Returns a port of this machine that nobody listens on. */
export async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has already ended.
  }
}

async function stopGroup(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    killGroup(child, 'SIGTERM');
    const timer = setTimeout(() => killGroup(child, 'SIGKILL'), stopMsMax);
    await ended;
    clearTimeout(timer);
  }
  killGroup(child, 'SIGKILL');
}

/** Sums a value over the processes of a group. Returns NaN on systems other than Linux. */
function sumGroup(group: number, read: (pid: string) => number): number {
  if (process.platform !== 'linux') return Number.NaN;
  return readdirSync('/proc').reduce((sum, entry) => {
    if (!/^\d+$/.test(entry)) return sum;
    try {
      return sum + (readGroup(entry) === group ? read(entry) : 0);
    } catch {
      // The process has just ended.
      return sum;
    }
  }, 0);
}

/** Reads the process group from `stat`. The command name in parentheses may contain spaces, so it is removed first. */
function readGroup(pid: string): number {
  return Number(
    readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')[2],
  );
}

/** Returns the CPU time of all threads in ms. `schedstat` has nanoseconds, while `stat` has only ticks of 10 ms. */
export function readCpuMs(pid: string): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    return sum + Number(nanoseconds) / 1e6;
  }, 0);
}

function readMemoryMib(pid: string): number {
  const [, kib = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}
