import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Authorship } from '../audit/audit-entry.ts';
import { OperatorError, OutcomeUnknownError, reasonOf, UsageError } from '../errors.ts';
import type { Catalogue } from '../pets/catalogue.ts';
import type { LoadedCounts, LoadedPet } from '../pets/load-pets.ts';
import { type PetFileFormat, readPets } from '../pets/pet-import.ts';
import { type BadRows, createBadRows } from './bad-rows.ts';
import { countThings } from './count-things.ts';
import { writeJson, writeLine } from './output.ts';
import { formatOfEnding } from './pet-file-endings.ts';
import { startProgress } from './progress.ts';
import type { Terminal } from './terminal.ts';

export interface ImportOptions {
  /** A path, or `-` for standard input. */
  readonly file: string;
  /** If undefined, the ending of the file name determines the format. */
  readonly format?: PetFileFormat | undefined;
  /** True to import the valid rows even if other rows are invalid. */
  readonly skipInvalid: boolean;
  /** True to check every row and write nothing. */
  readonly dryRun: boolean;
  readonly json: boolean;
  /** The actor and the time for the audit log. */
  readonly by: Authorship;
}

const readBytesMax = 262_144;

/**
 * Imports the animals of a file. A row without an id adds an animal. A row with an id changes that animal. Applies all
 * rows or none; with `skipInvalid`, all valid rows or none. Reports invalid rows. Throws OperatorError, with nothing
 * written, if the file is unreadable, or if it has invalid rows and `skipInvalid` is false. Throws OutcomeUnknownError
 * as `load` does (database.ts).
 */
export async function importFile(
  catalogue: Catalogue,
  options: ImportOptions,
  terminal: Terminal,
): Promise<void> {
  const { file, json, skipInvalid, dryRun, by } = options;
  const format = options.format ?? guessFormat(file);
  const startedMs = performance.now();
  const badRows = createBadRows();
  const progress = startProgress(terminal, await measureFile(file));
  let counts: LoadedCounts | null = { added: 0, changed: 0 };
  let skipped = 0;
  const rows = createRowCheck(badRows, skipInvalid);
  try {
    const pets = readPets(readBytes(file, terminal, progress.advance), format, badRows.add);
    counts = await catalogue.load(rows.pass(pets), {
      onWrite: progress.beginWriting,
      onBadChange: (line, field, rule) => badRows.add(line, [{ field, rule }]),
      check: rows.check,
      audited: { by, source: nameSource(basename(file)), countRefused: badRows.count },
      isDryRun: dryRun,
    });
    skipped = badRows.count();
  } catch (error) {
    if (error instanceof OutcomeUnknownError) counts = null;
    if (counts === null || !(error instanceof OperatorError)) throw error;
    throw new OperatorError(`nothing was imported: ${error.message}`, { cause: error });
  } finally {
    progress.stop();
    const { added: imported = null, changed = null } = counts ?? {};
    if (json) writeJson(terminal, { imported, changed, dryRun, skipped, ...badRows.toJson() });
    else terminal.stderr.write(badRows.toText());
  }
  if (json) return;
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  const left = skipInvalid ? `, skipped ${countThings(skipped, 'invalid row')}` : '';
  writeLine(
    terminal,
    `${describeCounts(counts, dryRun)} from ${nameSource(file)} in ${seconds} s${left}${rows.count() === 0 ? ': it has no rows' : ''}`,
  );
}

function describeCounts({ added, changed }: LoadedCounts, isDryRun: boolean): string {
  const imported = `${isDryRun ? 'would import' : 'imported'} ${countThings(added, 'animal')}`;
  if (changed === 0) return imported;
  return `${imported} and ${isDryRun ? 'change' : 'changed'} ${changed.toLocaleString('en')}`;
}

function guessFormat(file: string): PetFileFormat {
  const format = formatOfEnding(file);
  if (format !== null) return format;
  throw new UsageError(`the format of ${nameSource(file)} is not known: add --format csv or --format ndjson`);
}

/** Counts the valid rows. Throws for invalid rows, unless `skipInvalid` is true. */
function createRowCheck(badRows: BadRows, skipInvalid: boolean) {
  let goodCount = 0;

  /**
   * A row that changes an animal is validated only after all rows are read. Until then, it counts as valid. `badBefore`
   * is the number of invalid rows that never counted as valid.
   */
  function check(badBefore = 0): void {
    const badCount = badRows.count();
    if (skipInvalid || badCount === 0) return;
    const rows = countThings(goodCount + badBefore, 'row');
    throw new OperatorError(`${badCount} of ${rows} are invalid; --skip-invalid imports the others`);
  }

  /**
   * Yields batches until a row is invalid. After that, reads the other rows only to find all invalid rows, and throws
   * at the end.
   */
  async function* pass(batches: AsyncIterable<readonly LoadedPet[]>) {
    for await (const pets of batches) {
      goodCount += pets.length;
      if (skipInvalid || badRows.count() === 0) yield pets;
    }
    check(badRows.count());
  }

  return { pass, check: () => check(), count: () => goodCount + badRows.count() };
}

async function* readBytes(file: string, { stdin }: Terminal, onRead: (bytes: number) => void) {
  const source = file === '-' ? stdin : createReadStream(file, { highWaterMark: readBytesMax });
  try {
    for await (const chunk of source) {
      const bytes: Uint8Array = chunk;
      onRead(bytes.length);
      yield bytes;
    }
  } catch (error) {
    throw new OperatorError(`${nameSource(file)} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}

/** Returns the size of a regular file in bytes, or null if the size is unknown. */
async function measureFile(file: string): Promise<number | null> {
  const found = file === '-' ? null : await stat(file).catch(() => null);
  return found?.isFile() ? found.size : null;
}

function nameSource(file: string): string {
  return file === '-' ? 'standard input' : file;
}
