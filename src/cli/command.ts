import type { Readable, Writable } from 'node:stream';
import { Command } from 'commander';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { AppError, OperatorError } from '../errors.ts';
import type { Store } from '../store.ts';
import { jsonOption } from './arguments.ts';
import { writeJson, writeLine } from './output.ts';
import { type Column, writeColumns } from './table.ts';

export type Output = Writable & {
  readonly isTTY?: boolean;
  /** True if the terminal supports colours and NO_COLOR is not set. Only terminals have this method. */
  hasColors?(): boolean;
};

/** The standard streams of a command. */
export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** Signals and crashes of the process. */
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

/** The dependencies of a command. */
export interface CommandContext {
  /** Reads the settings. Throws OperatorError if a setting is invalid. */
  readonly readConfig: () => Config;
  readonly clock: Clock;
  readonly terminal: Terminal;
  readonly lifetime: Lifetime;
  /**
   * Opens the store for a task and closes it afterwards. If the store does not exist, throws OperatorError. With
   * `makesStore`, creates the store instead.
   */
  readonly withStore: <T>(
    task: (store: Store) => Promise<T>,
    options?: { readonly makesStore?: boolean },
  ) => Promise<T>;
}

/** A function that adds a command and its subcommands to the program. */
export type AddCommand = (program: Command, context: CommandContext) => void;

/** The examples of each command, which are also the examples of its group. */
const examplesOf = new WeakMap<Command, readonly string[]>();

/** A command with the option --json. */
class Leaf extends Command {
  /** Sets what the command does. `run` gets the options and then the arguments, and returns what is printed. */
  printing<Options, Arguments extends unknown[]>(
    { terminal }: Pick<CommandContext, 'terminal'>,
    run: (options: Options, ...args: Arguments) => Promise<Printed>,
  ): this {
    return this.action(async () => {
      const { json, ...options } = this.opts();
      const printed = await run(options as Options, ...(this.processedArgs as Arguments));
      if (json) writeJson(terminal, printed.json);
      else printed.print(terminal);
      if (printed.failure !== undefined) throw printed.failure;
    });
  }
}

/**
 * Adds a command with the option --json. `examples` are command lines without the name of the program. `notes` come
 * before them in the help, in lines of at most 80 characters.
 */
export function addLeaf(
  parent: Command,
  name: string,
  description: string,
  examples: readonly string[],
  notes = '',
): Leaf {
  const command = new Leaf(name).description(description).addOption(jsonOption);
  examplesOf.set(command, examples);
  parent.addCommand(command.addHelpText('after', `${notes && `\n${notes}\n`}${formatExamples(examples)}`));
  return command;
}

/** Adds a command that only has subcommands. Its help shows the first example of each. */
export function addGroup(program: Command, name: string, description: string): Command {
  const group = new Command(name).description(description);
  const listExamples = () => group.commands.flatMap((command) => examplesOf.get(command)?.slice(0, 1) ?? []);
  program.addCommand(group.addHelpText('after', () => formatExamples(listExamples())));
  return group;
}

function formatExamples(examples: readonly string[]): string {
  const lines = examples.map((example) => `\n  ${example.replace(/^(?=[a-z])/, 'animal-store ')}`);
  return `\n${examples.length === 1 ? 'Example' : 'Examples'}:${lines.join('')}`;
}

/** The output of a command: one JSON value with --json, otherwise what `print` writes. */
export interface Printed {
  readonly json: unknown;
  readonly print: (terminal: Terminal) => void;
  /** An error that is thrown after the output. */
  readonly failure?: unknown;
}

/** The output of a command that prints lines of text. */
export function printLines(json: unknown, ...lines: readonly string[]): Printed {
  return {
    json,
    print(terminal) {
      for (const line of lines) writeLine(terminal, line);
    },
  };
}

/** The output of a command that prints a table, or a JSON array with one value for each row. */
export function printTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  toJson: (row: Row) => unknown,
): Printed {
  return { json: rows.map(toJson), print: (terminal) => writeColumns(terminal, columns, rows) };
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
