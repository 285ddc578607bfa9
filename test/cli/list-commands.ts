import { runInProcess } from './run-command-line.ts';

/** A command, as its help shows it. */
export interface HelpPage {
  /** The words of the command; none for the program itself. */
  readonly command: readonly string[];
  readonly text: string;
}

/** A store that help must not open. */
export const unopened = 'sqlite:/nowhere/store.db';

/** The help of the program and of every command, found by following the lists of commands. */
export async function listHelp(command: readonly string[] = []): Promise<HelpPage[]> {
  const { stdout: text } = await runInProcess([...command, '--help'], unopened);
  const [, section = ''] = text.split('\nCommands:\n');
  const [listed = ''] = section.split('\n\n', 1);
  const names = Array.from(listed.matchAll(/^ {2}([\w-]+)/gm), ([, name = '']) => name);
  const below = names.filter((name) => name !== 'help').map((name) => listHelp([...command, name]));
  return [{ command, text }, ...(await Promise.all(below)).flat()];
}
