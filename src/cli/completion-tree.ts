import type { Command, Option } from 'commander';
import { scopes } from '../accounts/account.ts';

/** The values of an argument: one of these words, the path of a file, or any text. */
export type Values = readonly string[] | 'file' | 'text';

/** A word that a shell can offer. */
export interface Offer {
  readonly word: string;
  readonly description: string;
}

/** An option of a command; `values` is null if it takes none. */
export interface OfferedOption extends Offer {
  readonly values: Values | null;
}

/** The completions of one command. */
export interface CompletionNode {
  /**
   * The words of the command without the program's name, each with a space before it: ` keys create`, and `` for the
   * program.
   */
  readonly place: string;
  readonly commands: readonly Offer[];
  readonly options: readonly OfferedOption[];
  /** The values of its argument; null if it takes none. */
  readonly values: Values | null;
}

/** Lists the program and every command below it, with the texts of their help. */
export function listNodes(program: Command, place = ''): CompletionNode[] {
  const help = program.createHelp();
  const commands = help.visibleCommands(program);
  const [argument] = program.registeredArguments;
  const node: CompletionNode = {
    place,
    commands: commands.map((command) => ({ word: command.name(), description: command.description() })),
    options: help.visibleOptions(program).map(toOffer),
    values: argument === undefined ? null : toValues(argument.argChoices, argument.name()),
  };
  const own = commands.filter((command) => program.commands.includes(command));
  return [node, ...own.flatMap((command) => listNodes(command, `${place} ${command.name()}`))];
}

function toOffer({ long, short, description, required, argChoices, flags }: Option): OfferedOption {
  const placeholder = /<(\w+)>/.exec(flags)?.[1] ?? '';
  const values = required ? toValues(argChoices, placeholder) : null;
  return { word: long ?? short ?? '', description, values };
}

function toValues(choices: readonly string[] | undefined, placeholder: string): Values {
  if (placeholder === 'scopes') return ['all', ...scopes];
  return choices ?? (placeholder === 'file' ? 'file' : 'text');
}
