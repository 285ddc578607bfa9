import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { OperatorError, OutcomeUnknownError, UsageError } from '../errors.ts';
import type { Catalogue } from '../pets/catalogue.ts';
import type { NewPet } from '../pets/pet.ts';
import { type PetFileFormat, readPets } from '../pets/pet-import.ts';
import { type BadRows, createBadRows } from './bad-rows.ts';
import { countThings } from './count-things.ts';
import { writeJson } from './output.ts';
import { startProgress } from './progress.ts';
import type { Terminal } from './terminal.ts';

export interface ImportOptions {
  /** A path, or `-` for standard input. */
  readonly file: string;
  /** Undefined goes by the file's ending. */
  readonly format?: PetFileFormat | undefined;
  /** Whether the good rows are written although there are bad ones. */
  readonly skipInvalid: boolean;
  readonly json: boolean;
}

const readBytesMax = 262_144;
const formatsOfEndings: Readonly<Record<string, PetFileFormat>> = {
  '.csv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
};

/**
 * Adds the animals of a file to the catalogue, all or none, and tells of every bad row. Throws OperatorError, with
 * nothing written, where the file cannot be read or has a bad row that is not to be skipped; OutcomeUnknownError as
 * `load` does (database.ts).
 */
export async function importFile(
  catalogue: Catalogue,
  options: ImportOptions,
  terminal: Terminal,
): Promise<void> {
  const { file, json, skipInvalid } = options;
  const format = options.format ?? guessFormat(file);
  const startedMs = performance.now();
  const badRows = createBadRows();
  const progress = startProgress(terminal, await measureFile(file));
  let imported: number | null = 0;
  let skipped = 0;
  try {
    const pets = readPets(readBytes(file, terminal, progress.advance), format, badRows.add);
    const accepted = skipInvalid ? pets : refuseBadRows(pets, badRows);
    imported = await catalogue.load(accepted, progress.beginWriting);
    skipped = badRows.count();
  } catch (error) {
    if (error instanceof OutcomeUnknownError) imported = null;
    if (imported === null || !(error instanceof OperatorError)) throw error;
    throw new OperatorError(`nothing was imported: ${error.message}`, { cause: error });
  } finally {
    progress.stop();
    if (json) writeJson(terminal, { imported, skipped, ...badRows.toJson() });
    else terminal.stderr.write(badRows.toText());
  }
  if (json) return;
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  const left = skipInvalid ? `, skipped ${countThings(skipped, 'invalid row')}` : '';
  terminal.stdout.write(
    `imported ${countThings(imported, 'animal')} from ${nameSource(file)} in ${seconds} s${left}\n`,
  );
}

function guessFormat(file: string): PetFileFormat {
  const format = formatsOfEndings[extname(file).toLowerCase()];
  if (format !== undefined) return format;
  throw new UsageError(`the format of ${nameSource(file)} is not known: add --format csv or --format ndjson`);
}

/** Passes batches on until a row was bad; reads on to the end, for the other verdicts, and then throws. */
async function* refuseBadRows(batches: AsyncIterable<readonly NewPet[]>, badRows: BadRows) {
  let goodCount = 0;
  for await (const pets of batches) {
    goodCount += pets.length;
    if (badRows.count() === 0) yield pets;
  }
  const badCount = badRows.count();
  if (badCount === 0) return;
  const rows = countThings(goodCount + badCount, 'row');
  throw new OperatorError(`${badCount} of ${rows} are invalid; --skip-invalid imports the others`);
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
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`${nameSource(file)} cannot be read: ${reason}`, { cause: error });
  }
}

/** The bytes of a regular file, null where their number is not known beforehand. */
async function measureFile(file: string): Promise<number | null> {
  const found = file === '-' ? null : await stat(file).catch(() => null);
  return found?.isFile() ? found.size : null;
}

function nameSource(file: string): string {
  return file === '-' ? 'standard input' : file;
}
