import type { Command, Option } from 'commander';
import { scopes } from '../accounts/account.ts';

/** What may stand in a place: one of these words, the path of a file, or any text. */
export type Values = readonly string[] | 'file' | 'text';

/** A word that a shell may offer. */
export interface Offer {
  readonly word: string;
  readonly description: string;
}

/** An option of a command; `values` is null where it takes none. */
export interface OfferedOption extends Offer {
  readonly values: Values | null;
}

/** What may follow a command. */
export interface CompletionNode {
  /** The words that lead to it, the program's name left out, a blank before each: ` keys create`, and `` at the top. */
  readonly place: string;
  readonly commands: readonly Offer[];
  readonly options: readonly OfferedOption[];
  /** What its argument may be; null where it takes none. */
  readonly values: Values | null;
}

/** Every command below a program, the program first, as its own help has them. */
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
