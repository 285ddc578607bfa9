import { Command } from 'commander';
import { UsageError } from '../errors.ts';
import { jsonOption } from './arguments.ts';
import type { CommandContext } from './context.ts';
import type { ExportOptions } from './export.ts';
import { formatOption } from './import-command.ts';

/** `export`: writes all animals. */
export function exportCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('export')
    .description('write all animals as CSV or NDJSON, oldest first')
    .addOption(formatOption('the format').default('ndjson'))
    .option('--output <file>', 'write to a file instead of standard output')
    .option('--without-ids', 'leave out the ids, for an import into another store', false)
    .option('--force', 'replace a file that is there', false)
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
Imported again, a row with an id changes its animal; one without adds another.

Examples:
  animal-store export > animals.ndjson
  animal-store export --format csv --output animals.csv
  animal-store export --without-ids > for-another-store.ndjson`,
    )
    .action(async ({ json = false, ...options }: ExportOptions) => {
      if (json && options.output === undefined)
        throw new UsageError('--json needs --output FILE: standard output bears the animals');
      const { exportFile } = await import('./export.ts');
      await withStore(({ catalogue }) => exportFile(catalogue, { json, ...options }, terminal));
    });
}
