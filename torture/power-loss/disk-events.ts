import { sep } from 'node:path';
import type { SystemCall } from './system-calls.ts';

/** A change to the disk, or sent bytes. It happened between `beganNs` and `endedNs`, in Unix nanoseconds. */
export type DiskEvent = Deed & { readonly beganNs: bigint; readonly endedNs: bigint };

type Deed =
  | { readonly kind: 'write'; readonly file: string; readonly at: number; readonly data: Buffer }
  | { readonly kind: 'resize'; readonly file: string; readonly size: number }
  /** `file` may be a folder. */
  | { readonly kind: 'create'; readonly file: string; readonly isFolder: boolean }
  | { readonly kind: 'remove'; readonly file: string }
  | { readonly kind: 'rename'; readonly file: string; readonly to: string }
  /** A sync of a file or of a folder. */
  | { readonly kind: 'sync'; readonly file: string }
  /** Bytes sent to a socket or a pipe. */
  | { readonly kind: 'send'; readonly text: string };

/**
 * Translates the system calls that change files below a folder or send bytes. Throws if this model of a disk does not
 * know such a call, because ignoring the call would make the model wrong.
 */
export function toDiskEvents(calls: readonly SystemCall[], folder: string): readonly DiskEvent[] {
  const events: DiskEvent[] = [];
  for (const call of calls) {
    const deed = readDeed(call, `${folder}${sep}`);
    if (deed !== null) events.push({ ...deed, beganNs: call.beganNs, endedNs: call.endedNs });
  }
  return events;
}

const sending = new Set(['write', 'writev', 'sendto', 'sendmsg']);
const strings = /"((?:\\x[0-9a-f]{2})*)"/g;
const descriptor = /^\d+<([^>]*)>/;

function readDeed(call: SystemCall, root: string): Deed | null {
  const target = decode(descriptor.exec(call.args)?.[1] ?? '').toString();
  if (sending.has(call.name) && /^(?:socket|pipe|TCP|UNIX)/.test(target))
    return { kind: 'send', text: Buffer.concat(readStrings(call)).toString() };
  const [path = '', to = ''] = /^(?:open|mkdir|rename|unlink|creat|link|trunc)/.test(call.name)
    ? readStrings(call).map(String)
    : [target];
  const isBelow = `${path}${sep}`.startsWith(root) || to.startsWith(root);
  return isBelow && !isRebuilt(path) ? readFileDeed(call, path, to) : null;
}

/** The -shm is not part of the store: SQLite writes it through shared memory and rebuilds it after a crash. */
function isRebuilt(path: string): boolean {
  return path.endsWith('-shm');
}

function readFileDeed(call: SystemCall, file: string, to: string): Deed | null {
  const { name, args, result } = call;
  const lastNumber = Number(/(\d+)$/.exec(args)?.[1]);
  switch (name) {
    case 'open':
    case 'openat':
      if (/O_D?SYNC|O_APPEND|O_TMPFILE/.test(args)) break;
      // With O_EXCL, the file is new and O_TRUNC has no effect.
      if (args.includes('O_TRUNC') && !args.includes('O_EXCL')) break;
      return args.includes('O_CREAT') ? { kind: 'create', file, isFolder: false } : null;
    case 'mkdir':
      return { kind: 'create', file, isFolder: true };
    case 'pwrite64': {
      const data = Buffer.concat(readStrings(call)).subarray(0, result);
      return { kind: 'write', file, at: lastNumber, data };
    }
    case 'ftruncate':
      return { kind: 'resize', file, size: lastNumber };
    case 'rename':
      return { kind: 'rename', file, to };
    case 'unlink':
      return { kind: 'remove', file };
    case 'fsync':
    case 'fdatasync':
      return { kind: 'sync', file };
  }
  throw new Error(`the model of the disk does not know ${name}(${args.slice(0, 500)})`);
}

function readStrings({ args }: SystemCall): Buffer[] {
  return Array.from(args.matchAll(strings), ([, text = '']) => decode(text));
}

function decode(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}
