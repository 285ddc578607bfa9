import { reasonOf, UsageError } from '../errors.ts';
import { parseDatabaseUrl } from '../setting-values.ts';
import { newestSchema } from '../storage/migrations/migrate.ts';
import { parseStoreAddress } from '../storage/store-address.ts';
import { openStore } from '../store.ts';
import { transactions } from '../transactions.ts';
import { type AppCommand, type CommandContext, type Printed, printLines } from './command.ts';
import { countThings, formatSecondsSince, recordOrWarn, startBar } from './output.ts';

type MigrateOptions = Partial<{ from: string; to: string }>;

export function addMigrate(program: AppCommand): void {
  program
    .addLeaf('migrate', 'update the schema of the store, as every start does, or move the store')
    .withExamples(
      'migrate',
      'migrate --from sqlite:./data/animal-store.db --to postgres://user@db.example.com/animals',
    )
    .withNotes(`An address is sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE. The
password is percent-encoded. It can also be in PGPASSWORD. A move copies the
store. Nobody can write to the old store during the move, and later changes
to it are not copied.`)
    .option('--from <address>', 'move the store at this address')
    .option('--to <address>', 'move the store to this address, which must have an empty store or no store')
    .does(async (context, { from, to }: MigrateOptions) => {
      // A move needs no setting, but a wrong one fails here as in every other command.
      context.readConfig();
      checkAddress('--from', from);
      checkAddress('--to', to);
      if (from !== undefined && to !== undefined) return move(context, from, to);
      if (from !== to) throw new UsageError('--from and --to must be used together');
      const engine = await context.withStore(async ({ database, audit }) => {
        await audit.record('store.migrated', database.engine, { schema: newestSchema.at(-1) });
        return database.engine;
      }, true);
      return printLines({ engine, schema: 'newest' }, `the ${engine} store has the newest schema`);
    });
}

/**
 * Throws UsageError unless it is an address of a store. Not a parser of commander, because its message would show a password in
 * the address.
 */
function checkAddress(option: string, address: string | undefined): void {
  if (address === undefined) return;
  try {
    parseDatabaseUrl(address);
  } catch (error) {
    throw new UsageError(`${option} must be ${reasonOf(error)}`);
  }
}

async function move(
  { terminal, readConfig, clock, actor }: CommandContext,
  from: string,
  to: string,
): Promise<Printed> {
  const { copyStore } = await import('../storage/transfer/copy-store.ts');
  const startedMs = performance.now();
  const format = '{phase} [{bar}] {percentage} % of {all}';
  const bar = startBar(terminal, format, 1, { phase: 'opening', all: '0 rows' });
  let shownPhase = '';
  const showProgress = (phase: string, rows: number, rowsTotal: number) => {
    bar?.setTotal(rowsTotal);
    bar?.update(rows, { phase, all: countThings(rowsTotal, 'row') });
    if (phase !== shownPhase) bar?.render();
    shownPhase = phase;
  };
  const moved = await copyStore(from, to, showProgress).finally(() => bar?.stop());
  const store = await openStore({ ...readConfig(), databaseUrl: to }, clock, {
    mayMigrate: false,
    writer: transactions,
    actor,
  });
  const [source, target] = [from, to].map((address) => parseStoreAddress(address).engine);
  await recordOrWarn(terminal, () =>
    store.audit.record('store.migrated', String(target), { from: source, animals: moved.pets }),
  ).finally(store.close);
  const animals = countThings(moved.pets, 'animal');
  const accounts = countThings(moved.accounts, 'account');
  const keys = countThings(moved.api_keys, 'key');
  return printLines(
    {
      animals: moved.pets,
      accounts: moved.accounts,
      keys: moved.api_keys,
      orders: moved.orders,
      // Those of the outbox, on PostgreSQL, have no position yet.
      events: moved.events + moved.event_outbox,
      firstAnswers: moved.first_answers,
      usageWindows: moved.usage_windows,
      bans: moved.key_bans,
    },
    `moved ${animals}, ${accounts} and ${keys} in ${formatSecondsSince(startedMs)} s, and compared every row`,
  );
}
