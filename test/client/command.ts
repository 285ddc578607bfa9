import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { readToEnd } from '../support/processes.ts';
import type { Ending } from '../support/service.ts';
import { installPacked } from './packed-client.ts';

/** Installs the packed client. Returns functions that run its program in a process of its own. */
export async function installCommand(test: Ending) {
  const { project } = await installPacked(test);
  const program = `${project}/node_modules/.bin/animal-store-client`;

  /** Starts the program with these environment variables and nothing else. Kills it after the test. */
  function start(own: Ending, args: readonly string[], variables: Record<string, string>) {
    const env = { PATH: `${process.execPath.replace(/\/[^/]*$/, '')}:${process.env['PATH']}`, ...variables };
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    own.after(() => child.kill('SIGKILL'));
    return child;
  }

  return {
    start,
    run: (own: Ending, args: readonly string[], variables: Record<string, string>) =>
      readToEnd(start(own, args, variables)),
    /** Starts `listen` and reads its lines. Resolves when it follows the feed. */
    async listen(own: Ending, args: readonly string[], variables: Record<string, string>) {
      const child = start(own, ['listen', ...args], variables);
      const lines: string[] = [];
      const found = new Set<() => void>();
      createInterface({ input: child.stdout }).on('line', (line) => {
        lines.push(line);
        for (const look of found) look();
      });
      const ended = readToEnd(child);
      /** Resolves with the first line that contains the text. */
      const untilLine = (part: string) =>
        new Promise<string>((resolve, reject) => {
          const look = () => {
            const line = lines.find((one) => one.includes(part));
            if (line !== undefined) resolve(line);
          };
          found.add(look);
          look();
          ended.then(({ stderr }) => reject(new Error(`the program ended: ${lines.join('\n')}${stderr}`)));
        });
      await untilLine('Ctrl-C');
      return {
        lines,
        untilLine,
        ended,
        stop: () => {
          child.kill('SIGINT');
          return ended;
        },
      };
    },
  };
}
