import { Command } from 'commander';
import { UsageError } from '../errors.ts';
import type { PetFileFormat } from '../pets/pet-import.ts';
import { jsonOption } from './arguments.ts';
import type { CommandContext } from './context.ts';
import type { ExportOptions } from './export.ts';
import { formatOption } from './import-command.ts';
import { formatOfEnding } from './pet-file-endings.ts';

interface ExportFlags extends Omit<ExportOptions, 'format'> {
  readonly format?: PetFileFormat;
}

export function exportCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('export')
    .description('write all animals as CSV or NDJSON, oldest first')
    .addOption(formatOption("the format (default: by the file's ending, else ndjson)"))
    .option('--output <file>', 'write to a file instead of standard output')
    .option('--without-ids', 'omit the ids, for an import into another store', false)
    .option('--force', 'replace an existing file', false)
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
When the file is imported, a row with an id changes that animal, and a row
without an id adds an animal.

Examples:
  animal-store export > animals.ndjson
  animal-store export --output animals.csv
  animal-store export --without-ids > for-another-store.ndjson`,
    )
    .action(async ({ json = false, format, ...options }: ExportFlags) => {
      if (json && options.output === undefined)
        throw new UsageError('--json needs --output FILE, because the animals go to standard output');
      const { exportFile } = await import('./export.ts');
      const chosen = format ?? formatOfEnding(options.output ?? '') ?? 'ndjson';
      await withStore(({ catalogue }) =>
        exportFile(catalogue, { json, format: chosen, ...options }, terminal),
      );
    });
}
