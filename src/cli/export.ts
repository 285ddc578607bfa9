import type { Command } from 'commander';
import { petFields } from '../pets/pet.ts';
import { addLeaf, type CommandContext } from './command.ts';
import { addExportOptions, type ExportOptions, exportRows } from './files.ts';

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
  ).option('--without-ids', 'omit the ids, for an import into another store', false);
  addExportOptions(command, context).printing(
    context,
    (options: ExportOptions & { readonly withoutIds: boolean }) =>
      context.withStore(({ catalogue, audit }) => {
        const columns = options.withoutIds ? petFields : ['id', ...petFields];
        return exportRows(
          catalogue.listAll(),
          columns,
          'animal',
          options,
          context.terminal,
          (exported, file) => audit.record({ action: 'pets.exported', subject: file, after: { exported } }),
        );
      }),
  );
}
