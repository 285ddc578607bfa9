import { Command } from 'commander';
import type { Actor } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { AppError, OperatorError } from '../errors.ts';
import { isOperatorName, operatorNameRule } from '../operator-role.ts';
import type { Misnamed } from '../setting-sources.ts';
import type { Store } from '../store.ts';
import type { Terminal } from './output.ts';
import { type Column, withIsoTimes, writeColumns, writeJson, writeLine } from './output.ts';
import { parserOf } from './parsers.ts';

export interface Lifetime {
  /** Resolves on SIGTERM or SIGINT. */
  untilStopped(): Promise<void>;
  /** Resolves at the second SIGTERM. */
  untilStoppedAgain(): Promise<void>;
  /** Ends the process after `ms`, even if it still has pending work. Without pending work, it ends earlier. */
  endWithin(ms: number): void;
  /** Sets the function that reports an uncaught error. The process then ends with exit code 1. */
  onCrash(report: (error: unknown) => void): void;
}

export interface CommandContext {
  /** Reads the settings. Throws OperatorError if a setting is invalid. */
  readonly readConfig: () => Config;
  /** Variables that are no settings and look like one. */
  readonly misnamed: readonly Misnamed[];
  /** The files with secrets that the settings name. */
  readonly secretFiles: readonly string[];
  readonly clock: Clock;
  /** The author of what the command changes. */
  readonly actor: Actor;
  /** The person who runs the command. */
  readonly person: string;
  /** The name for which the person claims to act. */
  readonly claimed: string | null;
  /** Returns the same for a user who claims to act for somebody. */
  readonly claim: (name: string) => CommandContext;
  readonly terminal: Terminal;
  readonly lifetime: Lifetime;
  /** Opens the store for a task and closes it. Throws OperatorError if there is none, unless `makesStore`. */
  readonly withStore: <T>(task: (store: Store) => Promise<T>, makesStore?: boolean) => Promise<T>;
}

/** The output of a command: one JSON value with --json, otherwise what `print` writes. */
export interface Printed {
  readonly json: unknown;
  readonly print: (terminal: Terminal) => void;
  /** An error that is thrown after the output. */
  readonly failure?: unknown;
}

export class AppCommand extends Command {
  readonly context: CommandContext;
  private notes = '';
  private examples: readonly string[] = [];

  constructor(name: string, context: CommandContext) {
    super(name);
    this.context = context;
    this.addHelpText('before', ({ error }) => {
      // Parsing only the unknown word of `help` makes commander print an error that names it, and not the usage.
      const [, topic] = this.args;
      if (error && topic !== undefined) this.parse([topic], { from: 'user' });
      return '';
    });
  }

  /** Commander makes each subcommand by this method, and passes the output and the handling of errors on. */
  override createCommand(name = ''): AppCommand {
    return new AppCommand(name, this.context);
  }

  /** Adds a command that only has subcommands. Its help shows the first example of each. */
  addGroup(name: string, description: string): AppCommand {
    const group: AppCommand = this.command(name).description(description);
    const leaves = group.commands as readonly AppCommand[];
    const listFirst = () => leaves.flatMap(({ examples }) => examples.slice(0, 1));
    return group.addHelpText('after', () => formatExamples(listFirst()));
  }

  addLeaf(name: string, description: string): AppCommand {
    const leaf: AppCommand = this.command(name).description(description);
    leaf.addHelpText('after', () => `${leaf.notes && `\n${leaf.notes}\n`}${formatExamples(leaf.examples)}`);
    return leaf
      .option('--json', 'print one JSON value')
      .option('--as <name>', 'for the audit log: the name of the person who acts', parseOperatorName);
  }

  /** Sets what the help says before the examples, in lines of at most 80 characters. */
  withNotes(notes: string): this {
    this.notes = notes;
    return this;
  }

  /** Sets the examples of the help: command lines without the name of the program. */
  withExamples(...examples: readonly string[]): this {
    this.examples = examples;
    return this;
  }

  /** Sets what a command does. `run` gets the options and then the arguments, and returns what is printed. */
  does<Options, Arguments extends unknown[]>(
    run: (context: CommandContext, options: Options, ...args: Arguments) => Promise<Printed>,
  ): void {
    this.action(async () => {
      const { json, as, ...options } = this.opts();
      const context = as === undefined ? this.context : this.context.claim(as);
      const printed = await run(context, options as Options, ...(this.processedArgs as Arguments));
      if (json) writeJson(context.terminal, printed.json);
      else printed.print(context.terminal);
      if (printed.failure !== undefined) throw printed.failure;
    });
  }

  doesWithStore<Options, Arguments extends unknown[]>(
    run: (store: Store, options: Options, ...args: Arguments) => Promise<Printed>,
  ): void {
    this.does(({ withStore }, options: Options, ...args: Arguments) =>
      withStore((store) => run(store, options, ...args)),
    );
  }
}

/** Parses the name of an operator. */
export const parseOperatorName = parserOf(
  (text) => (isOperatorName(text) ? text : null),
  `It ${operatorNameRule}.`,
);

function formatExamples(examples: readonly string[]): string {
  const lines = examples.map((example) => `\n  ${example.replace(/^(?=[a-z])/, 'animal-store ')}`);
  return `\n${examples.length === 1 ? 'Example' : 'Examples'}:${lines.join('')}`;
}

export function printLines(json: unknown, ...lines: readonly string[]): Printed {
  return {
    json,
    print(terminal) {
      for (const line of lines) writeLine(terminal, line);
    },
  };
}

/** What a search without a hit prints. */
export const noneFound = 'nothing found';

/**
 * The output of a command that prints a table, or a JSON array with one object for each row (`withIsoTimes`). Without a row, it
 * prints `none` instead of the headings, unless that is null.
 */
export function printTable<Row extends object>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  toJson: (row: Row) => object = (row) => row,
  none: string | null = null,
): Printed {
  return {
    json: rows.map((row) => withIsoTimes(toJson(row))),
    print(terminal) {
      if (rows.length === 0 && none !== null) writeLine(terminal, none);
      else writeColumns(terminal, columns, rows);
    },
  };
}

/** Runs a change of one object. If the object does not exist, throws OperatorError with `missing`. */
export async function orMissing<T>(missing: string, change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
    throw new OperatorError(missing, { cause: error });
  }
}
