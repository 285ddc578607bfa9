import { Command, Option } from 'commander';
import { jsonOption } from './arguments.ts';
import type { CommandContext } from './context.ts';
import type { ImportOptions } from './import.ts';

/** `import`: adds and changes the animals of a file. */
export function importCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('import')
    .description('add and change the animals of a CSV or NDJSON file, all or none')
    .argument('<file>', 'a path, or - for standard input')
    .addOption(formatOption("the format (default: by the file's ending)"))
    .option('--skip-invalid', 'import the good rows although there are bad ones', false)
    .option('--dry-run', 'check every row and write nothing', false)
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
CSV has the columns name, categoryId and status; a categoryId is written in
decimal digits, as 100. NDJSON has these fields; a categoryId is any JSON number
that is a whole one, 1e2 too. A status that is left out is available. A row with
an id changes that animal: what it leaves out stays as it is.

Examples:
  animal-store import animals.csv
  animal-store import animals.csv --dry-run
  animal-store import - --format ndjson < animals.ndjson
  animal-store import animals.csv --skip-invalid --json`,
    )
    .action(async (file: string, { json = false, ...options }: Omit<ImportOptions, 'file'>) => {
      const { importFile } = await import('./import.ts');
      await withStore(({ catalogue }) => importFile(catalogue, { file, json, ...options }, terminal));
    });
}

export function formatOption(description: string): Option {
  return new Option('--format <format>', description).choices(['csv', 'ndjson']);
}
