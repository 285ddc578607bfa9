import { Argument, Command } from 'commander';
import { type JsonOption, jsonOption } from './arguments.ts';
import { writeBashCompletion } from './completion-bash.ts';
import { writeFishCompletion } from './completion-fish.ts';
import { listNodes } from './completion-tree.ts';
import { writeZshCompletion } from './completion-zsh.ts';
import type { CommandContext } from './context.ts';
import { writeJson } from './output.ts';

const writers = { bash: writeBashCompletion, zsh: writeZshCompletion, fish: writeFishCompletion };

type Shell = keyof typeof writers;

export function completionCommand({ terminal }: CommandContext): Command {
  return new Command('completion')
    .description('print the completion of commands and options for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(writers)))
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
The script completes the command animal-store, but not npx animal-store. To
install the command, run this in the folder of the project:
  ln -s "$PWD/bin/animal-store.js" ~/.local/bin/animal-store

Examples:
  animal-store completion bash >> ~/.bashrc
  animal-store completion zsh > ~/.zsh/completions/_animal-store
  animal-store completion fish > ~/.config/fish/completions/animal-store.fish`,
    )
    .action((shell: Shell, { json }: JsonOption, command: Command) => {
      const program = command.parent ?? command;
      const script = writers[shell](program.name(), listNodes(program));
      if (json) writeJson(terminal, { shell, script });
      else terminal.stdout.write(script);
    });
}
