import { createWriteStream } from 'node:fs';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { UsageError } from '../errors.ts';
import { toPrintableJson } from '../observability/safe-text.ts';
import type { Catalogue } from '../pets/catalogue.ts';
import type { Pet } from '../pets/pet.ts';
import type { PetFileFormat } from '../pets/pet-files.ts';
import {
  addLeaf,
  type CommandContext,
  type Printed,
  printing,
  printLines,
  type Terminal,
} from './command.ts';
import { formatOfEnding, formatOption } from './import.ts';
import { countThings } from './output.ts';
import { writeWholeFile } from './whole-file.ts';

interface ExportOptions {
  readonly format?: PetFileFormat;
  /** A path. If undefined, the animals go to standard output. */
  readonly output?: string;
  readonly withoutIds: boolean;
  /** True to replace an existing file. */
  readonly force: boolean;
}

export function addExport(program: Command, context: CommandContext): void {
  const command = addLeaf(
    program,
    'export',
    'write all animals as CSV or NDJSON, oldest first',
    [
      'export > animals.ndjson',
      'export --output animals.csv',
      'export --without-ids > for-another-store.ndjson',
    ],
    `When the file is imported, a row with an id changes that animal, and a row
without an id adds an animal.`,
  )
    .addOption(formatOption("the format (default: by the file's ending, else ndjson)"))
    .option('--output <file>', 'write to a file instead of standard output')
    .option('--without-ids', 'omit the ids, for an import into another store', false)
    .option('--force', 'replace an existing file', false);
  command.action(
    printing(context, async (options: ExportOptions) => {
      if (command.opts()['json'] && options.output === undefined)
        throw new UsageError('--json needs --output FILE, because the animals go to standard output');
      return context.withStore(({ catalogue }) => exportPets(catalogue, options, context.terminal));
    }),
  );
}

/**
 * Writes all animals, oldest first, to standard output or to a file. A failed export leaves no file. If standard output
 * fails, the export ends without an error, because main.ts reports the failure. Throws OperatorError if the file exists
 * and `force` is false, or if the file cannot be written.
 */
export async function exportPets(
  catalogue: Catalogue,
  { format, output, withoutIds, force }: ExportOptions,
  { stdout }: Terminal,
): Promise<Printed> {
  const { writePets } = await import('../pets/pet-files.ts');
  const chosen = format ?? formatOfEnding(output ?? '') ?? 'ndjson';
  let exported = 0;
  async function* countedPets(): AsyncIterable<readonly Pet[]> {
    for await (const pets of catalogue.listAll()) {
      exported += pets.length;
      yield pets;
    }
  }
  const text = writePets(countedPets(), chosen, withoutIds);
  if (output === undefined) {
    await writeUntilClosed(stdout.isTTY && chosen === 'ndjson' ? escapeAll(text) : text, stdout);
    return printLines(null);
  }
  await writeWholeFile(output, { replaces: force }, (unfinished) =>
    pipeline(Readable.from(text), createWriteStream(unfinished)),
  );
  return printLines({ exported, file: output }, `exported ${countThings(exported, 'animal')} to ${output}`);
}

/** A terminal would interpret control characters of names. */
async function* escapeAll(text: AsyncIterable<string>): AsyncIterable<string> {
  for await (const part of text) yield toPrintableJson(part);
}

async function writeUntilClosed(text: AsyncIterable<string>, stdout: Writable): Promise<void> {
  let outputError: unknown = null;
  stdout.once('error', (error) => {
    outputError = error;
  });
  try {
    await pipeline(Readable.from(text), stdout, { end: false });
  } catch (error) {
    if (error !== outputError) throw error;
  }
}
