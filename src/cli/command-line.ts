import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { type Clock, systemClock } from '../clock.ts';
import { parseConfig } from '../config.ts';
import { AppError, OperatorError, UsageError } from '../errors.ts';
import { toPrintable } from '../observability/printable.ts';
import { redactKeys } from '../observability/redact-keys.ts';
import { openStore } from '../store.ts';
import { accountsCommand } from './accounts.ts';
import { backupCommand } from './backup.ts';
import { completionCommand } from './completion.ts';
import type { CommandContext, Lifetime } from './context.ts';
import { doctorCommand } from './doctor.ts';
import { exportCommand } from './export-command.ts';
import { importCommand } from './import-command.ts';
import { keysCommand } from './keys.ts';
import { migrateCommand } from './migrate.ts';
import { ordersCommand } from './orders.ts';
import { petsCommand } from './pets.ts';
import { serveCommand } from './serve.ts';
import type { Terminal } from './terminal.ts';

export interface CommandLineOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  readonly lifetime: Lifetime;
  readonly clock?: Clock;
}

/**
 * Runs one command line and gives the exit code: 0, 2 for a mistake of usage, 1 for any other. A mistake is told in
 * one line on standard error, never by a stack trace.
 */
export async function runCommandLine(argv: readonly string[], options: CommandLineOptions): Promise<number> {
  const { terminal, lifetime } = options;
  const tell = (error: unknown) => terminal.stderr.write(toOneLine(`error: ${describeFailure(error)}`));
  lifetime.onCrash(tell);
  try {
    await buildProgram(createContext(options)).parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has told its errors already; asking for help is one of them.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    tell(error);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** The message of a failure, with the reason that lies behind it where there is one. */
function describeFailure(error: unknown): string {
  if (error instanceof OperatorError) return error.message;
  if (!(error instanceof Error)) return `unexpected: ${error}`;
  if (!(error instanceof AppError)) return `unexpected: ${error.message}`;
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/** A mistake may be to have typed a key in place of its id. */
function toOneLine(text: string): string {
  return `${toPrintable(redactKeys(text.trimEnd().replaceAll(/\s*\n\s*/g, ' ')))}\n`;
}

function createContext(options: CommandLineOptions): CommandContext {
  const { environment, terminal, lifetime, clock = systemClock } = options;
  const readConfig = () => parseConfig(environment);
  return {
    readConfig,
    clock,
    terminal,
    lifetime,
    async withStore(task) {
      const store = await openStore(readConfig(), clock);
      try {
        return await task(store);
      } finally {
        await store.close();
      }
    },
  };
}

function buildProgram(context: CommandContext): Command {
  const program = new Command('animal-store')
    .description('A catalogue of animals over HTTP, with API keys and exact limits.')
    .version(manifest.version)
    .addCommand(serveCommand(context))
    .addCommand(keysCommand(context))
    .addCommand(accountsCommand(context))
    .addCommand(ordersCommand(context))
    .addCommand(petsCommand(context))
    .addCommand(importCommand(context))
    .addCommand(exportCommand(context))
    .addCommand(backupCommand(context))
    .addCommand(migrateCommand(context))
    .addCommand(doctorCommand(context))
    .addCommand(completionCommand(context))
    .addHelpText(
      'after',
      `
Examples:
  animal-store serve
  animal-store keys create --plan free
  animal-store import animals.csv

The exit code is 0 where all went well, 1 where something did not, 2 for a
mistake in the command line; one line on standard error says what it was.
Colours are for a terminal alone, and not where NO_COLOR is set. The settings
are environment variables: docs/settings.md lists them.`,
    );
  configure(program, context.terminal);
  return program;
}

/** Commander hands its settings down only to commands that it makes itself. */
function configure(command: Command, terminal: Terminal): void {
  const { stdout, stderr } = terminal;
  command.exitOverride().configureOutput({
    writeOut: (text) => stdout.write(text),
    writeErr: (text) => stderr.write(text),
    outputError: (text, write) => write(toOneLine(text)),
  });
  command.addHelpText('before', ({ error }) => refuseUnknownTopic(command, error));
  for (const child of command.commands) configure(child, terminal);
}

/** For help on what is no command commander shows the usage as an error; parsed alone, the word is refused by name. */
function refuseUnknownTopic(command: Command, isError: boolean): string {
  const [, topic] = command.args;
  if (isError && topic !== undefined) command.parse([topic], { from: 'user' });
  return '';
}
