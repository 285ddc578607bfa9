import { UsageError } from '../errors.ts';
import { openDatabase } from '../storage/open-database.ts';
import {
  type Restored,
  restoreInPlace,
  restoreSqlite,
  skippedIdsUnknown,
} from '../storage/sqlite/restore.ts';
import { parseStoreAddress, requireNotStore } from '../storage/store-address.ts';
import { requireSqlite } from './backup.ts';
import { type AppCommand, type CommandContext, type Printed, printLines } from './command.ts';
import { countThings, writeWarning } from './output.ts';

export function addRestore(program: AppCommand): void {
  program
    .addLeaf('restore', 'replace the store with a backup, while no service runs')
    .withExamples('restore /var/backups/animal-store.db', 'restore --in-place')
    .withNotes(`A file replaces a SQLite store. Its current content is lost: back it up first.
Ids assigned since the backup are not used again. All positions in the event
feed expire: readers get 410 events_expired and must read the whole store again.
After pg_restore, or after a snapshot of the disk has brought an earlier store
back, --in-place tells the store so. Every restore puts the webhooks on hold,
and "webhooks resume --all" lets them go on. It ends the sessions, links and
tokens of all operators.`)
    .argument('[file]', 'a file written by the backup command (SQLite)')
    .option('--in-place', 'keep the content of the store, which something else brought back', false)
    .does(async (context, { inPlace }: { readonly inPlace: boolean }, file?: string) => {
      // Exactly one of them: the file is the content, or the store already has it.
      if (inPlace === (file !== undefined)) throw new UsageError('name either a file or --in-place');
      return file === undefined ? restoreHere(context) : restoreFile(context, file);
    });
}

async function restoreHere({ readConfig, clock, actor }: CommandContext): Promise<Printed> {
  const { databaseUrl } = readConfig();
  const { engine, location } = parseStoreAddress(databaseUrl);
  const by = { actor, nowMs: clock() };
  if (engine === 'sqlite') {
    const skipped = `the next ${skippedIdsUnknown} ids of each kind are skipped`;
    const line = `restored the store ${location} in place: ${skipped}`;
    return describe(line, location, location, await restoreInPlace(location, by));
  }
  // Throws unless the store exists and has the newest schema.
  const database = await openDatabase(databaseUrl, undefined, false);
  await database.close();
  const { restorePostgresInPlace } = await import('../storage/postgres/restore.ts');
  const { store, restored } = await restorePostgresInPlace(location, by);
  const line = `restored the store ${store} in place: ids that may be lost are skipped`;
  return describe(line, store, store, restored);
}

async function restoreFile(
  { readConfig, clock, terminal, actor }: CommandContext,
  file: string,
): Promise<Printed> {
  const { databaseUrl } = readConfig();
  const refusal = 'a file is restored only over SQLite: use pg_restore, and then "restore --in-place"';
  const store = requireSqlite(databaseUrl, refusal);
  await requireNotStore(file, databaseUrl);
  const restored = await restoreSqlite(store, file, { actor, nowMs: clock() });
  if (restored.keysThatWorkAgain === null)
    writeWarning(
      terminal,
      `the ids assigned since the backup are unknown: the next ${skippedIdsUnknown} ids of each kind are skipped`,
    );
  return describe(`restored the store ${store} from ${file}`, file, store, restored);
}

/** Says what was restored, and what is left to do. */
function describe(line: string, restored: string, store: string, found: Restored): Printed {
  const { webhooksOnHold, keysThatWorkAgain, sessionsEnded, operatorsToCheck } = found;
  const onHold = `${countThings(webhooksOnHold, 'webhook')} on hold: "webhooks resume --all" lets them go on`;
  const ended = `ended all sessions and tokens of operators (${sessionsEnded}): make the tokens of programs again`;
  return printLines(
    { restored, store, ...found },
    line,
    ...(webhooksOnHold === 0 ? [] : [onHold]),
    ...describeKeys(keysThatWorkAgain),
    ...(sessionsEnded === 0 ? [] : [ended]),
    ...describeOperators(operatorsToCheck, keysThatWorkAgain === null),
  );
}

function describeOperators(names: readonly string[], areAll: boolean): readonly string[] {
  if (names.length === 0) return [];
  const count = countThings(names.length, 'operator');
  const why = areAll ? 'some may have been removed since the backup' : 'not so before the restore';
  return [
    `${count} to check, ${why}: "operators list" shows the roles, "operators remove NAME" ends one`,
    ...names.map((name) => `  ${name}`),
  ];
}

function describeKeys(keys: Restored['keysThatWorkAgain']): readonly string[] {
  if (keys === null)
    return [
      'keys revoked and accounts suspended since the backup work again: "keys list" and "accounts list" show all',
    ];
  if (keys.length === 0) return [];
  const count = countThings(keys.length, 'key');
  return [
    `${count} working again, or for longer than before: "keys revoke ID" ends one, "accounts suspend" all of an account`,
    ...keys.map(({ id, account }) => `  ${id} of ${account}`),
  ];
}
