import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { systemClock } from '../../src/clock.ts';
import { lifetime } from '../support/command-line.ts';
import { readToEnd } from '../support/processes.ts';
import type { Ending } from '../support/service.ts';
import { root } from './markdown.ts';

export interface Command {
  readonly name: string;
  readonly code: string;
}

/** Links, so that all services use one compile cache. No example changes these files. */
const linked = ['package.json', 'bin', 'src', 'examples', 'docs', 'client', 'client-python', 'node_modules'];

/** Environment variables of the shell: the project's own Node comes first, and there are no settings of the service. */
export const shellEnvironment = {
  PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`,
  HOME: process.env['HOME'],
  // npm only installs packages and sends no audit or update request.
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
};

/** A service of this process, on its first start, whose store is in a fresh copy of the project. */
export type ExampleService = Awaited<ReturnType<typeof startExampleService>>;

export async function startExampleService(test: Ending) {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  const stopped = Promise.withResolvers<void>();
  for (const name of linked) await symlink(join(root, name), join(folder, name));

  const stdout = new PassThrough();
  const ended = runCommandLine(['serve'], {
    environment: { PORT: '0', OPS_PORT: '0', DATABASE_URL: `sqlite:${join(folder, 'data/animal-store.db')}` },
    terminal: { stdin: process.stdin, stdout, stderr: process.stderr },
    lifetime: { ...lifetime, untilStopped: () => stopped.promise },
    clock: systemClock,
  });
  test.after(async () => {
    // The service stops first, because it reports an error if its store disappears.
    stopped.resolve();
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  const { welcome, url, opsUrl } = await readStart(stdout);
  const key = /as_dev_\w+/.exec(welcome)?.[0] ?? '';
  const stand: readonly (readonly [RegExp, string])[] = [
    [/http:\/\/127\.0\.0\.1:8080/g, new URL(url).origin],
    [/http:\/\/127\.0\.0\.1:8081/g, opsUrl],
    [/as_dev_[\w.…]+/g, key],
    // The program that npx would find. This saves the second that npx takes.
    [/npx (?:--no-install )?animal-store/g, 'node bin/animal-store.js'],
  ];
  return {
    folder,
    /** The output of the first start up to the line with the address. */
    welcome,
    key,
    /** Replaces the default addresses, key and command in the code of a document by those of this service. */
    adapt: (code: string) => stand.reduce((text, [usual, actual]) => text.replaceAll(usual, actual), code),
    run: (commands: readonly Command[]) =>
      runInShell(commands, folder, { ANIMAL_STORE_URL: url, ANIMAL_STORE_KEY: key }),
  };
}

/** Returns a shell command that enters an empty folder and forbids npm to use a registry. */
export const enterFolder = (folder: string) =>
  `export npm_config_registry='http://127.0.0.1:9'\ncd '${folder}'`;

/**
 * Runs commands in one shell, so that a command may use the results of earlier ones. Returns the output of each command.
 * Throws an error with the name and the output of the first command that fails.
 */
async function runInShell(
  commands: readonly Command[],
  folder: string,
  variables: Readonly<Record<string, string>>,
): Promise<string[]> {
  const outputs = commands.map((_, index) => join(folder, `output-${index}`));
  const script = [
    'set -euo pipefail',
    'trap \'echo "$example failed" >&2\' ERR',
    ...commands.map(({ name, code }, index) => `example='${name}'\n{\n${code}\n} >'${outputs[index]}'`),
  ];
  const child = spawn('bash', ['-c', script.join('\n')], {
    cwd: folder,
    env: { ...shellEnvironment, ...variables },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const { code, stderr } = await readToEnd(child);
  if (code !== 0) throw new Error(stderr);
  return Promise.all(outputs.map((output) => readFile(output, 'utf8')));
}

/** Reads the output up to the line with the address of the service. Ignores later lines. */
async function readStart(stdout: PassThrough) {
  let welcome = '';
  for await (const line of createInterface({ input: stdout })) {
    const { url, opsUrl } = line.startsWith('{') ? JSON.parse(line) : {};
    if (opsUrl === undefined) {
      welcome += `${line}\n`;
      continue;
    }
    stdout.resume();
    return { welcome, url: String(url), opsUrl: String(opsUrl) };
  }
  throw new Error(`the service ended before it served: ${welcome}`);
}
