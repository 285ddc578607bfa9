import { createWriteStream } from 'node:fs';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Option } from 'commander';
import type { Audit } from '../audit/audit-log.ts';
import { UsageError } from '../errors.ts';
import { stringifyExactJson } from '../exact-json.ts';
import { toPrintableJson } from '../observability/safe-text.ts';
import { petFields } from '../pets/pet.ts';
import { type PetFileFormat, petFileFormats } from '../pets/pet-files.ts';
import { pick } from '../storage/insert-row.ts';
import { requireNotStore } from '../storage/store-address.ts';
import { type AppCommand, type Printed, printLines } from './command.ts';
import type { Terminal } from './output.ts';
import { countThings, recordOrWarn, writeUntilClosed } from './output.ts';
import { writeWholeFile } from './whole-file.ts';

export function addExport(program: AppCommand): void {
  const leaf = program
    .addLeaf('export', 'write all animals as CSV or NDJSON, oldest first')
    .withExamples(
      'export > animals.ndjson',
      'export --output animals.csv',
      'export --without-ids > for-another-store.ndjson',
    )
    .withNotes(`When the file is imported, a row with an id changes that animal, and a row
without an id adds an animal.`)
    .option('--without-ids', 'omit the ids, for an import into another store', false);
  type Options = ExportOptions & { readonly withoutIds: boolean };
  addExportOptions(leaf).doesWithStore(async ({ catalogue, audit }, { withoutIds, ...options }: Options) => {
    const columns = withoutIds ? petFields : ['id', ...petFields];
    return exportRows(catalogue.listAll(), columns, 'animal', options, program.context.terminal, audit);
  });
}

export interface ExportOptions {
  readonly format?: PetFileFormat;
  /** The file, or `-` for standard output. */
  readonly output: string;
  readonly force: boolean;
}

export function formatOption(description: string): Option {
  return new Option('--format <format>', description).choices(petFileFormats);
}

const formats: Readonly<Record<string, PetFileFormat>> = {
  '.csv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
};

export function formatOfEnding(file: string): PetFileFormat | null {
  return formats[extname(file).toLowerCase()] ?? null;
}

export function addExportOptions(leaf: AppCommand): AppCommand {
  return leaf
    .addOption(formatOption("the format (default: by the file's ending, else ndjson)"))
    .option('--output <file>', 'the file, or - for standard output', '-')
    .option('--force', 'replace an existing file', false)
    .hook('preAction', async () => {
      const { json, output } = leaf.opts();
      if (output !== '-') await requireNotStore(output, leaf.context.readConfig().databaseUrl);
      else if (json)
        throw new UsageError('--json needs --output FILE, because the rows go to standard output');
    });
}

type Batches = AsyncIterable<readonly Readonly<Record<string, unknown>>[]>;

const auditActions = { animal: 'pets.exported', order: 'orders.exported' } as const;

/**
 * Writes rows to standard output, or all of them to a file. The audit log gets an entry even if the export fails midway.
 * Throws OperatorError if the file exists and `force` is false, or if the file cannot be written.
 */
export async function exportRows(
  batches: Batches,
  columns: readonly string[],
  thing: keyof typeof auditActions,
  { format, output, force }: ExportOptions,
  terminal: Pick<Terminal, 'stdout' | 'stderr'>,
  audit: Pick<Audit, 'record'>,
): Promise<Printed> {
  const chosen = format ?? formatOfEnding(output) ?? 'ndjson';
  const file = output === '-' ? null : output;
  let exported = 0;
  async function* counted() {
    try {
      for await (const rows of batches) {
        exported += rows.length;
        yield rows;
      }
    } finally {
      const subject = file ?? 'standard output';
      await recordOrWarn(terminal, () => audit.record(auditActions[thing], subject, { exported }));
    }
  }
  await writeExport(writeRows(counted(), columns, chosen), file, force, terminal.stdout);
  if (file === null) return printLines(null);
  return printLines({ exported, file }, `exported ${countThings(exported, thing)} to ${file}`);
}

/**
 * Writes a text to standard output if `file` is null, or all of it to a file. An export has names and references of
 * clients, so only the owner of the file may read it. If the text has begun, its `finally` blocks end before this ends.
 * Throws OperatorError as `writeWholeFile` does.
 */
export async function writeExport(
  text: AsyncGenerator<string>,
  file: string | null,
  replaces: boolean,
  stdout: Terminal['stdout'],
): Promise<void> {
  try {
    if (file === null) await writeUntilClosed(Readable.from(stdout.isTTY ? escapeAll(text) : text), stdout);
    else
      await writeWholeFile(file, { replaces, mode: 0o600 }, (unfinished) =>
        pipeline(Readable.from(text), createWriteStream(unfinished)),
      );
  } finally {
    // A pipeline that fails does not wait for the row that it has asked for.
    await text.return(undefined);
  }
}

/**
 * Yields the text of an export file, one string per batch. Values are written exactly, so that an import reads the same
 * values. A text that a spreadsheet would treat as a formula is not escaped.
 */
export async function* writeRows(
  batches: Batches,
  columns: readonly string[],
  format: PetFileFormat,
): AsyncGenerator<string> {
  const { stringify } = await import('csv-stringify/sync');
  if (format === 'csv') yield stringify([[...columns]]);
  for await (const rows of batches)
    yield format === 'csv'
      ? stringify([...rows], { columns: [...columns] })
      : rows.map((row) => `${stringifyExactJson(pick(row, columns))}\n`).join('');
}

/** Prints a report as CSV. A text that a spreadsheet would run as a formula begins with an apostrophe. */
export async function printCsv(
  batches: Batches | readonly (readonly object[])[],
  columns: readonly string[],
  { stdout }: Pick<Terminal, 'stdout'>,
): Promise<Printed> {
  const { stringify } = await import('csv-stringify/sync');
  async function* writeAll() {
    yield stringify([[...columns]]);
    for await (const rows of batches)
      yield stringify([...rows], { columns: [...columns], escape_formulas: true });
  }
  await writeExport(writeAll(), null, false, stdout);
  return printLines(null);
}

/** A terminal would interpret control characters of names. */
async function* escapeAll(text: AsyncIterable<string>): AsyncIterable<string> {
  for await (const part of text) yield toPrintableJson(part);
}
