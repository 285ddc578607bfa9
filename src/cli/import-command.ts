import { Command, Option } from 'commander';
import { commandActor } from '../audit/command-actor.ts';
import { jsonOption } from './arguments.ts';
import type { CommandContext } from './context.ts';
import type { ImportOptions } from './import.ts';

/** `import`: adds and changes the animals of a file. */
export function importCommand({ withStore, terminal, clock }: CommandContext): Command {
  return new Command('import')
    .description('add and change the animals of a CSV or NDJSON file, all or none')
    .argument('<file>', 'a path, or - for standard input')
    .addOption(formatOption("the format (default: by the file's ending)"))
    .option('--skip-invalid', 'import the valid rows even if there are invalid ones', false)
    .option('--dry-run', 'check every row and write nothing', false)
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
CSV has the columns name, categoryId and status; the categoryId is in decimal
digits, as in 100. NDJSON has the same fields; the categoryId is a whole JSON
number, also as in 1e2. The default status is available. A row with an id
changes that animal; fields that the row omits stay unchanged.

Examples:
  animal-store import animals.csv
  animal-store import animals.csv --dry-run
  animal-store import - --format ndjson < animals.ndjson
  animal-store import animals.csv --skip-invalid --json`,
    )
    .action(async (file: string, { json = false, ...options }: Omit<ImportOptions, 'file' | 'act'>) => {
      const { importFile } = await import('./import.ts');
      const act = { actor: commandActor(), nowMs: clock() };
      await withStore(({ catalogue }) => importFile(catalogue, { file, json, act, ...options }, terminal), {
        makesStore: !options.dryRun,
      });
    });
}

export function formatOption(description: string): Option {
  return new Option('--format <format>', description).choices(['csv', 'ndjson']);
}
