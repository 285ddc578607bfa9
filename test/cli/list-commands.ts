import { runInProcess } from './run-command-line.ts';

/** A command and the text of its help. */
export interface HelpPage {
  /** The words of the command. Empty for the program itself. */
  readonly command: readonly string[];
  readonly text: string;
}

/** The address of a store that cannot be opened, because help must not open the store. */
export const unopened = 'sqlite:/nowhere/store.db';

/** Returns the help of the program and of all its commands, which the help lists recursively. */
export async function listHelp(command: readonly string[] = []): Promise<HelpPage[]> {
  const { stdout: text } = await runInProcess([...command, '--help'], unopened);
  const [, section = ''] = text.split('\nCommands:\n');
  const [listed = ''] = section.split('\n\n', 1);
  const names = Array.from(listed.matchAll(/^ {2}([\w-]+)/gm), ([, name = '']) => name);
  const below = names.filter((name) => name !== 'help').map((name) => listHelp([...command, name]));
  return [{ command, text }, ...(await Promise.all(below)).flat()];
}
