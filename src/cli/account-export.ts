import { exportAccount } from '../accounts/export-account.ts';
import { UsageError } from '../errors.ts';
import { stringifyExactJson } from '../exact-json.ts';
import { requireNotStore } from '../storage/store-address.ts';
import type { Store } from '../store.ts';
import { accountArgument } from './arguments.ts';
import { type AppCommand, type Printed, printLines } from './command.ts';
import { writeExport } from './export.ts';
import { countThings, recordOrWarn, type Terminal, withIsoTimes } from './output.ts';

interface ExportOptions {
  readonly to?: string;
  readonly force: boolean;
}

/** Adds `accounts export`. Whoever has the shell is an admin, and the console has no such export. */
export function addExportAccount(accounts: AppCommand): void {
  const { terminal } = accounts.context;
  const leaf = accounts.addLeaf('export', 'write everything that the store has of an account to a file');
  leaf
    .withExamples('accounts export "Acme Zoo"', 'accounts export "Acme Zoo" --to acme.ndjson')
    .withNotes(`The file is NDJSON: each line is a row with the name of its table. It has the
account, its keys, webhooks, orders, events, requests, counts, first answers and
entries of the audit log, without secrets, hashes and names of operators.
Only its owner may read it. Without --to, it is account-ID.ndjson in this
folder, with the id of the account.`)
    .addArgument(accountArgument)
    .option('--to <file>', 'the file, or - for standard output')
    .option('--force', 'replace an existing file', false)
    .hook('preAction', async () => {
      const { json, to } = leaf.opts();
      if (to === '-' && json)
        throw new UsageError('--json needs a file, because the rows go to standard output');
      if (to !== undefined && to !== '-') await requireNotStore(to, leaf.context.readConfig().databaseUrl);
    })
    .doesWithStore((store, options: ExportOptions, account: string) =>
      exportToFile(store, account, options, terminal),
    );
}

/** The audit log gets an entry even if the export fails midway. It has no name of a file, which may name a person. */
async function exportToFile(
  { database, accounts, audit }: Store,
  account: string,
  { to, force }: ExportOptions,
  terminal: Terminal,
): Promise<Printed> {
  const id = await accounts.findId(account);
  const file = to === '-' ? null : (to ?? `account-${id}.ndjson`);
  let rows = 0;
  async function* writeLines() {
    try {
      for await (const page of exportAccount(database, id)) {
        rows += page.length;
        yield page.map((row) => `${stringifyExactJson(withIsoTimes(row))}\n`).join('');
      }
    } finally {
      await recordOrWarn(terminal, () => audit.record('account.exported', account, { rows }, id));
    }
  }
  await writeExport(writeLines(), file, force, terminal.stdout);
  if (file === null) return printLines(null);
  return printLines({ account, rows, file }, `exported ${countThings(rows, 'row')} of ${account} to ${file}`);
}
