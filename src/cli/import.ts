import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { type Authorship, addAuditEntry } from '../audit/audit-log.ts';
import { OperatorError, OutcomeUnknownError, reasonOf, UsageError } from '../errors.ts';
import type { Catalogue } from '../pets/catalogue.ts';
import { noteImportedFile } from '../pets/imported-files.ts';
import type { LoadedCounts } from '../pets/load-pets.ts';
import { petFields } from '../pets/pet.ts';
import type { PetFileFormat } from '../pets/pet-files.ts';
import { requireExisting } from '../storage/stored-migrations.ts';
import type { AppCommand, Printed } from './command.ts';
import { formatOfEnding, formatOption } from './export.ts';
import type { Terminal } from './output.ts';
import { countThings, formatSecondsSince, startBar, writeLine } from './output.ts';
import { createRowCheck } from './row-check.ts';

interface ImportOptions {
  readonly format?: PetFileFormat;
  readonly skipInvalid: boolean;
  readonly dryRun: boolean;
  readonly once?: boolean;
  readonly ignoreUnknown?: boolean;
}

export function addImport(program: AppCommand): void {
  program
    .addLeaf('import', 'add and change animals from a CSV or NDJSON file, all rows or none')
    .withExamples(
      'import animals.csv',
      'import animals.csv --dry-run',
      'import animals.csv --once',
      'import - --format ndjson < animals.ndjson',
      'import animals.csv --skip-invalid --json',
    )
    .withNotes(`CSV has the columns ${petFields.join(', ')} and id.
NDJSON has the same fields. A categoryId is a whole number: in CSV decimal
digits, with a minus sign if it is negative (100, -5), in NDJSON any JSON form
(100, 1e2). The default status is available. A row with an id changes the animal
with this id, and fields that the row omits stay unchanged. A row without an id
adds an animal.`)
    .argument('<file>', 'a path, or - for standard input')
    .addOption(formatOption("the format (default: by the file's ending)"))
    .option('--skip-invalid', 'import the valid rows even if there are invalid ones', false)
    .option('--ignore-unknown', 'ignore columns and fields that an animal does not have', false)
    .option('--dry-run', 'check every row and write nothing', false)
    .option('--once', 'refuse a file whose content (SHA-256) was imported before', false)
    .does(async ({ readConfig, withStore, clock, terminal, actor }, given: ImportOptions, file: string) => {
      if (given.once && given.dryRun) throw new UsageError('--once and --dry-run cannot be used together');
      const options = { ...given, format: given.format ?? guessFormat(file) };
      const by = { actor, nowMs: clock() };
      const { requireStore, databaseUrl } = readConfig();
      if (requireStore) await requireExisting(databaseUrl);
      // The import may make the store, so a file that cannot be read is refused before.
      const source = file === '-' ? terminal.stdin : await openFile(file);
      return withStore(
        ({ catalogue }) => importFile(catalogue, file, source, options, by, terminal),
        !given.dryRun,
      );
    });
}

function guessFormat(file: string): PetFileFormat {
  const format = formatOfEnding(file);
  if (format !== null) return format;
  throw new UsageError(`the format of ${nameSource(file)} is not known: add --format csv or --format ndjson`);
}

/**
 * Imports the animals of `source`, which is a file, or standard input if `file` is `-`: all rows or, with `skipInvalid`,
 * all valid rows, or none. The output lists invalid rows. It fails with OperatorError, with nothing written, if the file
 * is unreadable or has invalid rows that are not skipped, and with OutcomeUnknownError as `load` does (database.ts).
 */
export async function importFile(
  catalogue: Catalogue,
  file: string,
  source: Readable,
  options: ImportOptions & { readonly format: PetFileFormat },
  by: Authorship,
  terminal: Terminal,
): Promise<Printed> {
  const { format, skipInvalid, dryRun, once = false, ignoreUnknown = false } = options;
  const { readPets } = await import('../pets/pet-files.ts');
  const startedMs = performance.now();
  const rows = createRowCheck(skipInvalid);
  const hash = createHash('sha256');
  const progress = await startProgress(terminal, file);
  let counts: LoadedCounts | null = { added: 0, changed: 0 };
  let line: string | null = null;
  let failure: unknown;
  try {
    const bytes = readBytes(file, source, hash, progress.advance);
    const pets = readPets(bytes, format, rows.refuse, ignoreUnknown);
    counts = await catalogue.load(rows.pass(pets), {
      onBadChanges: rows.refuseChanges,
      onChecked() {
        rows.check();
        progress.beginWriting();
      },
      *finish(counted) {
        // Rows may have become bad since the check.
        rows.check();
        // A copy, because after a deadlock this runs again.
        yield* noteImportedFile(hash.copy().digest('hex'), by.nowMs, once);
        const after = { ...counted, refused: rows.countBad() };
        yield* addAuditEntry(by, 'pets.imported', nameSource(basename(file)), { after });
      },
      isDryRun: dryRun,
    });
    const left = skipInvalid ? `, skipped ${countThings(rows.countBad(), 'invalid row')}` : '';
    const none = rows.isEmpty() ? ': it has no rows' : '';
    const done = `${describeCounts(counts, dryRun)} from ${nameSource(file)}`;
    line = `${done} in ${formatSecondsSince(startedMs)} s${left}${none}`;
  } catch (error) {
    failure = error;
    if (error instanceof OutcomeUnknownError) counts = null;
    else if (error instanceof OperatorError)
      failure = new OperatorError(`nothing was imported: ${error.message}`, { cause: error });
  } finally {
    progress.stop();
  }
  const skipped = line === null ? 0 : rows.countBad();
  const { added: imported = null, changed = null } = counts ?? {};
  return {
    json: { imported, changed, dryRun, skipped, ...rows.toJson() },
    print(shown) {
      shown.stderr.write(rows.toText());
      if (line !== null) writeLine(shown, line);
    },
    failure,
  };
}

function describeCounts({ added, changed }: LoadedCounts, isDryRun: boolean): string {
  const imported = `${isDryRun ? 'would import' : 'imported'} ${countThings(added, 'animal')}`;
  if (changed === 0) return imported;
  return `${imported} and ${isDryRun ? 'change' : 'changed'} ${changed.toLocaleString('en')}`;
}

/** Shows the progress of reading a file, and then of writing, if standard error is a terminal. */
async function startProgress(terminal: Terminal, file: string) {
  const found = file === '-' ? null : await stat(file).catch(() => null);
  const totalBytes = found?.isFile() ? found.size : null;
  const format = totalBytes === null ? '{phase} {mib} MiB' : '{phase} [{bar}] {percentage} % of {mib} MiB';
  const toMib = (bytes: number) => (bytes / 2 ** 20).toFixed(1);
  const bar = startBar(terminal, format, totalBytes ?? 0, { phase: 'reading', mib: toMib(totalBytes ?? 0) });
  let bytes = 0;
  return {
    advance(count: number): void {
      bytes += count;
      bar?.update(bytes, { mib: toMib(totalBytes ?? bytes) });
    },
    /** Writing blocks the event loop, so the bar cannot move until the end. */
    beginWriting(): void {
      bar?.update(bytes, { phase: 'writing' });
      bar?.render();
    },
    stop: () => bar?.stop(),
  };
}

const readBytesMax = 262_144;

/** Throws OperatorError if the file cannot be read. */
async function openFile(file: string): Promise<Readable> {
  const source = createReadStream(file, { highWaterMark: readBytesMax });
  try {
    await once(source, 'readable');
  } catch (error) {
    throw new OperatorError(`nothing was imported: ${unreadable(file, error).message}`, { cause: error });
  }
  return source;
}

async function* readBytes(file: string, source: Readable, hash: Hash, onRead: (bytes: number) => void) {
  try {
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      hash.update(chunk);
      onRead(chunk.length);
      yield chunk;
    }
  } catch (error) {
    throw unreadable(file, error);
  }
}

const unreadable = (file: string, cause: unknown) =>
  new OperatorError(`${nameSource(file)} cannot be read: ${reasonOf(cause)}`, { cause });

function nameSource(file: string): string {
  return file === '-' ? 'standard input' : file;
}
