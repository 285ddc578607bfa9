import { execFile } from 'node:child_process';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { type Ending, makeFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** What a shell has that finds the project's own Node.js first; npm asks no registry for anything. */
export const offline = {
  npm_config_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
};
const environment = {
  PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`,
  HOME: process.env['HOME'],
  ...offline,
};

/** Runs a program to its end, as `npm` or `node` in a shell, and gives its standard output. Throws where it fails. */
export async function runIn(folder: string, program: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(program, args, { cwd: folder, env: environment });
  return stdout;
}

/** Copies what the client is built from into a folder, beside the packages of the project. */
export async function copySources(folder: string): Promise<void> {
  const filter = (path: string) => basename(path) !== 'dist';
  await cp(join(root, 'client'), join(folder, 'client'), { recursive: true, filter });
  await cp(join(root, 'tsconfig.json'), join(folder, 'tsconfig.json'));
}

/** Packs the client, and installs the tarball in a new project without anything else; gives that project's folder. */
export async function installPacked(test: Ending): Promise<{ project: string; packed: readonly string[] }> {
  const folder = await makeFolder(test);
  await copySources(folder);
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const told = await runIn(folder, 'npm', 'pack', '--json', '--silent', './client');
  const [pack] = JSON.parse(told.slice(told.indexOf('['))) as [
    { filename: string; files: { path: string }[] },
  ];

  // Outside the project, so that none of its packages can be found.
  const project = join(await makeFolder(test), 'app');
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  await runIn(project, 'npm', 'install', join(folder, pack.filename));
  return { project, packed: pack.files.map(({ path }) => path) };
}
