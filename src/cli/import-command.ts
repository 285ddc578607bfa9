import { Command, Option } from 'commander';
import { commandActor } from '../audit/audit-entry.ts';
import { jsonOption } from './arguments.ts';
import type { CommandContext } from './context.ts';
import type { ImportOptions } from './import.ts';

export function importCommand({ withStore, terminal, clock }: CommandContext): Command {
  return new Command('import')
    .description('add and change animals from a CSV or NDJSON file, all rows or none')
    .argument('<file>', 'a path, or - for standard input')
    .addOption(formatOption("the format (default: by the file's ending)"))
    .option('--skip-invalid', 'import the valid rows even if there are invalid ones', false)
    .option('--dry-run', 'check every row and write nothing', false)
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
CSV has the columns name, categoryId, status and id. NDJSON has the same fields.
A categoryId is a whole number: in CSV decimal digits, with a minus sign if it
is negative (100, -5), in NDJSON any JSON form (100, 1e2). The default status is
available. A row with an id changes the animal with this id, and fields that the
row omits stay unchanged. A row without an id adds an animal.

Examples:
  animal-store import animals.csv
  animal-store import animals.csv --dry-run
  animal-store import - --format ndjson < animals.ndjson
  animal-store import animals.csv --skip-invalid --json`,
    )
    .action(async (file: string, { json = false, ...options }: Omit<ImportOptions, 'file' | 'by'>) => {
      const { importFile } = await import('./import.ts');
      const by = { actor: commandActor(), nowMs: clock() };
      await withStore(({ catalogue }) => importFile(catalogue, { file, json, by, ...options }, terminal), {
        makesStore: !options.dryRun,
      });
    });
}

export function formatOption(description: string): Option {
  return new Option('--format <format>', description).choices(['csv', 'ndjson']);
}
