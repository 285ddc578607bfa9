import { dirname } from 'node:path';
import type { DiskEvent } from './disk-events.ts';

/** A change to the bytes of a file. */
export type Change = Extract<DiskEvent, { kind: 'write' | 'resize' }>;
/** A change to the names in a folder. */
type Naming = Extract<DiskEvent, { kind: 'create' | 'remove' | 'rename' }>;

/** A file or a folder without its names: its certain content on the disk, and its uncertain changes. */
export interface DiskFile {
  readonly isFolder: boolean;
  /** The content after every change that a sync has covered. */
  durable: Buffer;
  /** The later changes, oldest first. */
  unsynced: Change[];
}

/** The files of one folder, as the running system sees them and as a power loss may leave them. */
export interface Disk {
  /** Applies the next event. A change counts from its start, a sync from its end. */
  take(event: DiskEvent): void;
  /** How many of the newest name changes no sync of the folder has covered. A power loss may lose them. */
  countUnsyncedNames(): number;
  /** The files by path, with all synced name changes and the first `unsyncedNames` of the others. */
  list(unsyncedNames: number): ReadonlyMap<string, DiskFile>;
}

export function createDisk(): Disk {
  /** The files by path, as the running system sees them. */
  const seen = new Map<string, DiskFile>();
  let durableNames: ReadonlyMap<string, DiskFile> = new Map();
  let unsyncedNames: { readonly event: Naming; readonly file: DiskFile }[] = [];

  function find(path: string): DiskFile {
    const file = seen.get(path);
    if (file === undefined) throw new Error(`${path} is changed, and was not created`);
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
 * Changes bytes in place if they have room, and returns them. `keeps` decides for each sector of a write whether it is
 * done.
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

/** The unit that a disk writes as a whole or not at all. */
const sectorBytes = 512;

/** Grows in place while the memory behind `bytes` has room. Nothing else may use that memory. */
function resize(bytes: Buffer, size: number): Buffer {
  if (size <= bytes.length) return bytes.subarray(0, size);
  const hasRoom = bytes.byteOffset === 0 && bytes.buffer.byteLength >= size;
  const grown = Buffer.from(hasRoom ? bytes.buffer : new ArrayBuffer(2 * size), 0, size);
  if (hasRoom) grown.fill(0, bytes.length);
  else bytes.copy(grown);
  return grown;
}
