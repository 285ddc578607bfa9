import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requireSystem } from '../storage/mount.ts';

/** A successful system call. Times are Unix nanoseconds. */
export interface SystemCall {
  readonly name: string;
  /** The arguments as strace prints them. Strings and paths are hexadecimal, so a comma always separates arguments. */
  readonly args: string;
  readonly result: number;
  readonly beganNs: bigint;
  readonly endedNs: bigint;
}

/** The calls that change a file or a folder, sync one, or send bytes to a client. */
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

/** Throws Skipped if strace is missing or not permitted. */
export function requireStrace(): void {
  requireSystem('strace', ...options, '-o', '/dev/null', 'true');
}

/**
 * Returns the command that traces a program, with its threads and children, into files of a folder. The traced process
 * stays the direct child, so that it receives signals and its exit code is visible.
 */
export function traceInto(folder: string): readonly string[] {
  return ['strace', '-D', ...options, '-ff', '-o', join(folder, 'thread')];
}

/** Reads the calls of all traced threads, sorted by their start. */
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

/** Returns null for a call that does not return, such as `exit`. */
function parseLine(line: string): SystemCall | null {
  const [, seconds, nanoseconds, name, args, result, took, tookNs] = form.exec(line) ?? [];
  if (name === undefined || args === undefined) return null;
  const beganNs = BigInt(`${seconds}${nanoseconds}`);
  const endedNs = beganNs + BigInt(`${took}${tookNs}`);
  return { name, args, result: Number(result), beganNs, endedNs };
}
