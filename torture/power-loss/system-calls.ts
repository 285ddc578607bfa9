import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requireSystem } from '../storage/mount.ts';

/** A system call that has returned without an error. Times are Unix nanoseconds. */
export interface SystemCall {
  readonly name: string;
  /** The arguments as strace prints them: every string and path in hexadecimal, so that commas separate. */
  readonly args: string;
  readonly result: number;
  readonly beganNs: bigint;
  readonly endedNs: bigint;
}

/** What changes a file or a folder, what syncs one, and what sends bytes to a client. */
const names = [
  ...['open', 'openat', 'creat', 'mkdir', 'mkdirat', 'rename', 'renameat', 'renameat2', 'link', 'linkat'],
  ...['unlink', 'unlinkat', 'truncate', 'ftruncate', 'fallocate', 'copy_file_range', 'sendfile'],
  ...['write', 'writev', 'pwrite64', 'pwritev', 'pwritev2', 'sendto', 'sendmsg', 'sendmmsg'],
  ...['fsync', 'fdatasync', 'sync', 'syncfs', 'sync_file_range', 'msync'],
];

const options = [
  ...['-f', '-qq', '--seccomp-bpf', '--signal=none', '--status=successful', `--trace=${names.join(',')}`],
  ...['-y', '-xx', '--string-limit=100000000', '--timestamps=unix,ns', '--syscall-times=ns'],
];

/** Throws Skipped if strace is missing or may not trace. */
export function requireStrace(): void {
  requireSystem('strace', ...options, '-o', '/dev/null', 'true');
}

/**
 * The command that traces a program and all its threads and children into the files of a folder. The traced process stays the
 * direct child of who starts it, so that signals reach it and its exit code is its own.
 */
export function traceInto(folder: string): readonly string[] {
  return ['strace', '-D', ...options, '-ff', '-o', join(folder, 'thread')];
}

/** All calls of all traced threads in the order in which they began. */
export async function readSystemCalls(folder: string): Promise<readonly SystemCall[]> {
  const calls: SystemCall[] = [];
  for (const name of await readdir(folder)) {
    const trace = await readFile(join(folder, name), 'latin1');
    for (const line of trace.split('\n')) {
      const call = parseLine(line);
      if (call !== null) calls.push(call);
    }
  }
  return calls.toSorted((one, other) => Number(one.beganNs - other.beganNs));
}

const form = /^(\d+)\.(\d{9}) (\w+)\((.*)\) += (\d+).* <(\d+)\.(\d{9})>$/;

/** Null for a call that did not return, as `exit` does not. */
function parseLine(line: string): SystemCall | null {
  const [, seconds, nanoseconds, name, args, result, took, tookNs] = form.exec(line) ?? [];
  if (name === undefined || args === undefined) return null;
  const beganNs = BigInt(`${seconds}${nanoseconds}`);
  const endedNs = beganNs + BigInt(`${took}${tookNs}`);
  return { name, args, result: Number(result), beganNs, endedNs };
}
