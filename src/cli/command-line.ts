import { CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { commandActor, readPerson } from '../audit/audit-log.ts';
import { type Clock, systemClock } from '../clock.ts';
import { parseConfig, settings } from '../config.ts';
import { AppError, OperatorError, UsageError } from '../errors.ts';
import { toSafeText } from '../observability/safe-text.ts';
import { listMisnamed, listSecretFiles, readSecretFiles } from '../setting-sources.ts';
import { allowFileSystem } from '../storage/sqlite/file-system.ts';
import { openStore } from '../store.ts';
import { transactions } from '../transactions.ts';
import { addAccounts } from './accounts.ts';
import { addBackup, addVacuum } from './backup.ts';
import { AppCommand, type CommandContext } from './command.ts';
import { addConsole } from './console.ts';
import { addDoctor } from './doctor.ts';
import { addExport } from './export.ts';
import { addImport } from './import.ts';
import { addBans, addKeys } from './keys.ts';
import { addLog } from './log.ts';
import { addMigrate } from './migrate.ts';
import { addOperators } from './operators.ts';
import { addOrders } from './orders.ts';
import { addPets } from './pets.ts';
import { addProfile } from './profile.ts';
import { addAudit, addRequests, addStrangers, addUsage } from './reports.ts';
import { addRestore } from './restore.ts';
import { addSearch } from './search.ts';
import { addServe } from './serve.ts';
import { addWebhooks } from './webhooks.ts';

export interface CommandLineOptions extends Pick<CommandContext, 'terminal' | 'lifetime'> {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
}

/**
 * Runs a command and returns the exit code: 0 for success, 2 for a usage error, 1 for any other error. Prints an error
 * as one line on standard error, never a stack trace.
 */
export async function runCommandLine(argv: readonly string[], options: CommandLineOptions): Promise<number> {
  const { environment, terminal, lifetime, clock = systemClock } = options;
  const report = (error: unknown) => terminal.stderr.write(toOneLine(`error: ${describeFailure(error)}`));
  lifetime.onCrash(report);
  const readConfig = () => {
    const config = parseConfig(readSecretFiles(environment));
    allowFileSystem(config.allowedFileSystem);
    return config;
  };
  const misnamed = listMisnamed(environment, Object.keys(settings));
  const secretFiles = listSecretFiles(environment);
  const createContext = (claimed: string | null): CommandContext => {
    const actor = commandActor(claimed);
    return {
      readConfig,
      misnamed,
      secretFiles,
      clock,
      terminal,
      lifetime,
      actor,
      person: readPerson(environment),
      claimed,
      claim: createContext,
      async withStore(task, makesStore = false) {
        // A command does one thing at a time, so it needs no thread, which takes as long to start as the rest.
        const options = { mayMigrate: makesStore, writer: transactions, actor };
        const store = await openStore(readConfig(), clock, options);
        try {
          return await task(store);
        } finally {
          await store.close();
        }
      },
    };
  };
  try {
    const program = buildProgram(createContext(null));
    await program.parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has already printed this error. After --help, it throws with exit code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    report(error);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Adds the cause of an AppError, because the message of an AppError is written for clients and omits it. */
function describeFailure(error: unknown): string {
  if (error instanceof OperatorError) return error.message;
  if (!(error instanceof Error)) return `unexpected: ${error}`;
  if (!(error instanceof AppError)) return `unexpected: ${error.message}`;
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/** Redacts keys, because an operator may have typed a key instead of its id. */
function toOneLine(text: string): string {
  return `${toSafeText(text.trimEnd().replaceAll(/\s*\n\s*/g, ' '))}\n`;
}

const commands = [
  addServe,
  addKeys,
  addAccounts,
  addBans,
  addSearch,
  addRequests,
  addStrangers,
  addUsage,
  addAudit,
  addOrders,
  addPets,
  addConsole,
  addOperators,
  addWebhooks,
  addImport,
  addExport,
  addBackup,
  addRestore,
  addVacuum,
  addMigrate,
  addDoctor,
  addLog,
  addProfile,
];

function buildProgram(context: CommandContext): AppCommand {
  const { stdout, stderr } = context.terminal;
  const program = new AppCommand('animal-store', context)
    .description('A catalogue of animals over HTTP, with API keys and exact limits.')
    .version(manifest.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: (text, write) => write(toOneLine(text)),
    })
    .addHelpText(
      'after',
      `
Examples:
  animal-store serve
  animal-store keys create --plan free
  animal-store import animals.csv

The exit code is 0 for success, 1 for an error, 2 for a usage error. An error is
one line on standard error. Output has colours on a terminal, but not if
NO_COLOR is set. The settings are environment variables: see docs/settings.md.`,
    );
  for (const add of commands) add(program);
  return program;
}
