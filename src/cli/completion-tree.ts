import type { Command, Option } from 'commander';
import { scopes } from '../accounts/account.ts';

/** The values that an argument accepts: one of the listed words, the path of a file, or any text. */
export type Values = readonly string[] | 'file' | 'text';

/** A word that a shell suggests. */
export interface Offer {
  readonly word: string;
  readonly description: string;
}

/** An option of a command. `values` is null if the option takes no value. */
export interface OfferedOption extends Offer {
  readonly values: Values | null;
}

/** The completions of one command. */
export interface CompletionNode {
  /**
   * The words of the command without the name of the program, each after a space: ` keys create`. Empty for the program
   * itself.
   */
  readonly place: string;
  readonly commands: readonly Offer[];
  readonly options: readonly OfferedOption[];
  /** The values of the command's first argument. Null if the command takes no argument. */
  readonly values: Values | null;
}

/** Returns a node for the program and one for each of its subcommands, at any depth. */
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
