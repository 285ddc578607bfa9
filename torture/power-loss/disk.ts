import { dirname } from 'node:path';
import type { DiskEvent } from './disk-events.ts';

/** A change to the bytes of a file. */
export type Change = Extract<DiskEvent, { kind: 'write' | 'resize' }>;
/** A change to the names in a folder. */
type Naming = Extract<DiskEvent, { kind: 'create' | 'remove' | 'rename' }>;

/** The content of a file or folder, independent of its name: the durable bytes and the changes that may be lost. */
export interface DiskFile {
  readonly isFolder: boolean;
  /** The content after every change that a sync has covered. */
  durable: Buffer;
  /** The changes that no sync has covered, oldest first. */
  unsynced: Change[];
}

/** The files of one folder, as the running system sees them and as a power loss may leave them. */
export interface Disk {
  /** Applies the next event. A change takes effect at its start, a sync at its end. */
  take(event: DiskEvent): void;
  /** Number of name changes that no sync of their folder has covered. A power loss may lose these changes. */
  countUnsyncedNames(): number;
  /** Returns the files by path, with all synced name changes and the first `unsyncedNames` unsynced ones. */
  list(unsyncedNames: number): ReadonlyMap<string, DiskFile>;
}

export function createDisk(): Disk {
  /** The files by path, as the running system sees them. */
  const seen = new Map<string, DiskFile>();
  let durableNames: ReadonlyMap<string, DiskFile> = new Map();
  let unsyncedNames: { readonly event: Naming; readonly file: DiskFile }[] = [];

  function find(path: string): DiskFile {
    const file = seen.get(path);
    if (file === undefined) throw new Error(`${path} was changed but never created`);
    return file;
  }

  /** A folder that existed before the first event is not listed. */
  const isFolder = (path: string) => seen.get(path)?.isFolder ?? true;

  function rename(event: Naming): void {
    if (event.kind === 'create' && seen.has(event.file)) return;
    const file = event.kind === 'create' ? createFile(event.isFolder) : find(event.file);
    applyNaming(seen, event, file);
    unsyncedNames.push({ event, file });
  }

  function list(count: number): Map<string, DiskFile> {
    const names = new Map(durableNames);
    for (const { event, file } of unsyncedNames.slice(0, count)) applyNaming(names, event, file);
    return names;
  }

  function syncNames(folder: string, beganNs: bigint): void {
    const isCovered = ({ event }: { event: Naming }) =>
      dirname(event.file) === folder && event.endedNs <= beganNs;
    const count = unsyncedNames.findIndex((naming) => !isCovered(naming));
    const covered = count === -1 ? unsyncedNames.length : count;
    durableNames = list(covered);
    unsyncedNames = unsyncedNames.slice(covered);
  }

  return {
    take(event) {
      if (event.kind === 'send') return;
      if (event.kind === 'write' || event.kind === 'resize') find(event.file).unsynced.push(event);
      else if (event.kind !== 'sync') rename(event);
      else if (isFolder(event.file)) syncNames(event.file, event.beganNs);
      else syncFile(find(event.file), event.beganNs);
    },
    countUnsyncedNames: () => unsyncedNames.length,
    list,
  };
}

function createFile(isFolder: boolean): DiskFile {
  return { isFolder, durable: Buffer.alloc(0), unsynced: [] };
}

function applyNaming(names: Map<string, DiskFile>, event: Naming, file: DiskFile): void {
  if (event.kind !== 'create') names.delete(event.file);
  if (event.kind !== 'remove') names.set(event.kind === 'rename' ? event.to : event.file, file);
}

function syncFile(file: DiskFile, beganNs: bigint): void {
  const later = file.unsynced.filter((change) => change.endedNs > beganNs);
  for (const change of file.unsynced)
    if (change.endedNs <= beganNs) file.durable = applyChange(file.durable, change);
  file.unsynced = later;
}

/**
 * Applies a change to bytes, in place if their memory has room, and returns the result. `keeps` decides for each sector
 * whether the write reached the disk.
 */
export function applyChange(bytes: Buffer, change: Change, keeps = (_sector: number) => true): Buffer {
  if (change.kind === 'resize') return resize(bytes, change.size);
  const { at, data } = change;
  let grown = bytes;
  for (let from = 0; from < data.length; ) {
    const sector = Math.floor((at + from) / sectorBytes);
    const to = Math.min(data.length, (sector + 1) * sectorBytes - at);
    if (keeps(sector)) {
      if (at + to > grown.length) grown = resize(grown, at + to);
      data.copy(grown, at + from, from, to);
    }
    from = to;
  }
  return grown;
}

/** The unit that a disk writes atomically. */
const sectorBytes = 512;

/** Resizes `bytes`, in place if their ArrayBuffer has room. No other code may use this ArrayBuffer. */
function resize(bytes: Buffer, size: number): Buffer {
  if (size <= bytes.length) return bytes.subarray(0, size);
  const hasRoom = bytes.byteOffset === 0 && bytes.buffer.byteLength >= size;
  const grown = Buffer.from(hasRoom ? bytes.buffer : new ArrayBuffer(2 * size), 0, size);
  if (hasRoom) grown.fill(0, bytes.length);
  else bytes.copy(grown);
  return grown;
}
