import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { type Authorship, commandActor } from '../audit/audit-entry.ts';
import { OperatorError, OutcomeUnknownError, reasonOf, UsageError } from '../errors.ts';
import type { Catalogue } from '../pets/catalogue.ts';
import type { LoadedCounts, LoadedPet } from '../pets/load-pets.ts';
import { petFields } from '../pets/pet.ts';
import type { PetFileFormat } from '../pets/pet-files.ts';
import { type BadRows, createBadRows } from './bad-rows.ts';
import { addLeaf, type CommandContext, type Printed, type Terminal } from './command.ts';
import { formatOfEnding, formatOption } from './export.ts';
import { countThings, formatSecondsSince, writeLine } from './output.ts';
import { startReadProgress } from './progress.ts';

interface ImportOptions {
  readonly format?: PetFileFormat;
  readonly skipInvalid: boolean;
  readonly dryRun: boolean;
  readonly ignoreUnknown?: boolean;
}

export function addImport(program: Command, context: CommandContext): void {
  addLeaf(
    program,
    'import',
    'add and change animals from a CSV or NDJSON file, all rows or none',
    [
      'import animals.csv',
      'import animals.csv --dry-run',
      'import - --format ndjson < animals.ndjson',
      'import animals.csv --skip-invalid --json',
    ],
    `CSV has the columns ${petFields.join(', ')} and id.
NDJSON has the same fields. A categoryId is a whole number: in CSV decimal
digits, with a minus sign if it is negative (100, -5), in NDJSON any JSON form
(100, 1e2). The default status is available. A row with an id changes the animal
with this id, and fields that the row omits stay unchanged. A row without an id
adds an animal.`,
  )
    .argument('<file>', 'a path, or - for standard input')
    .addOption(formatOption("the format (default: by the file's ending)"))
    .option('--skip-invalid', 'import the valid rows even if there are invalid ones', false)
    .option('--ignore-unknown', 'ignore columns and fields that an animal does not have', false)
    .option('--dry-run', 'check every row and write nothing', false)
    .printing(context, async (options: ImportOptions, file: string) => {
      const format = options.format ?? guessFormat(file);
      const by = { actor: commandActor(), nowMs: context.clock() };
      return context.withStore(
        ({ catalogue }) => importFile(catalogue, file, { ...options, format }, by, context.terminal),
        { makesStore: !options.dryRun },
      );
    });
}

function guessFormat(file: string): PetFileFormat {
  const format = formatOfEnding(file);
  if (format !== null) return format;
  throw new UsageError(`the format of ${nameSource(file)} is not known: add --format csv or --format ndjson`);
}

/**
 * Imports the animals of a file, or of standard input if `file` is `-`. A row without an id adds an animal. A row with
 * an id changes that animal. Applies all rows or none; with `skipInvalid`, all valid rows or none. The output lists
 * invalid rows. It fails with OperatorError, with nothing written, if the file is unreadable, or if it has invalid rows
 * and `skipInvalid` is false. It fails with OutcomeUnknownError as `load` does (database.ts).
 */
export async function importFile(
  catalogue: Catalogue,
  file: string,
  { format, skipInvalid, dryRun, ignoreUnknown = false }: ImportOptions & { readonly format: PetFileFormat },
  by: Authorship,
  terminal: Terminal,
): Promise<Printed> {
  const { readPets } = await import('../pets/pet-files.ts');
  const startedMs = performance.now();
  const badRows = createBadRows();
  const rows = createRowCheck(badRows, skipInvalid);
  const progress = startReadProgress(terminal, await measureFile(file));
  let counts: LoadedCounts | null = { added: 0, changed: 0 };
  let skipped = 0;
  let line: string | null = null;
  let failure: unknown;
  try {
    const pets = readPets(readBytes(file, terminal, progress.advance), format, badRows.add, ignoreUnknown);
    counts = await catalogue.load(rows.pass(pets), {
      onWrite: progress.beginWriting,
      onBadChange: (badLine, field, rule) => badRows.add(badLine, [{ field, rule }]),
      check: rows.check,
      audited: { by, source: nameSource(basename(file)), countRefused: badRows.count },
      isDryRun: dryRun,
    });
    skipped = badRows.count();
    const left = skipInvalid ? `, skipped ${countThings(skipped, 'invalid row')}` : '';
    const none = rows.count() === 0 ? ': it has no rows' : '';
    const done = `${describeCounts(counts, dryRun)} from ${nameSource(file)}`;
    line = `${done} in ${formatSecondsSince(startedMs)} s${left}${none}`;
  } catch (error) {
    if (error instanceof OutcomeUnknownError) counts = null;
    failure = nameFailure(error);
  } finally {
    progress.stop();
  }
  const { added: imported = null, changed = null } = counts ?? {};
  return {
    json: { imported, changed, dryRun, skipped, ...badRows.toJson() },
    print(shown) {
      shown.stderr.write(badRows.toText());
      if (line !== null) writeLine(shown, line);
    },
    failure,
  };
}

/** If nothing was written because of the file, the message says so. */
function nameFailure(error: unknown): unknown {
  if (error instanceof OutcomeUnknownError || !(error instanceof OperatorError)) return error;
  return new OperatorError(`nothing was imported: ${error.message}`, { cause: error });
}

function describeCounts({ added, changed }: LoadedCounts, isDryRun: boolean): string {
  const imported = `${isDryRun ? 'would import' : 'imported'} ${countThings(added, 'animal')}`;
  if (changed === 0) return imported;
  return `${imported} and ${isDryRun ? 'change' : 'changed'} ${changed.toLocaleString('en')}`;
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
    throw new OperatorError(
      `${badCount} of ${rows} ${badCount === 1 ? 'is' : 'are'} invalid; --skip-invalid imports the others`,
    );
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

const readBytesMax = 262_144;

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
