import { execFile } from 'node:child_process';
import { cp, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { clientPackageName } from '../../src/http/docs-site/routes.ts';
import { shellEnvironment } from '../docs/example-service.ts';
import { root } from '../docs/markdown.ts';
import { type Ending, makeFolder } from '../support/service.ts';

const run = promisify(execFile);

/** Runs a program such as `npm`, without a registry. Returns its standard output. Throws if the program fails. */
export async function runIn(folder: string, program: string, ...args: string[]): Promise<string> {
  const env = { ...shellEnvironment, npm_config_offline: 'true' };
  const { stdout } = await run(program, args, { cwd: folder, env });
  return stdout;
}

/** What npm says of a tarball. */
interface Pack {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** Packs the client and installs only the tarball in a new project. Returns the folder of the project. */
export async function installPacked(test: Ending): Promise<{ project: string; packed: readonly string[] }> {
  const folder = await makeFolder(test);
  const filter = (path: string) => basename(path) !== 'dist';
  await cp(join(root, 'client'), join(folder, 'client'), { recursive: true, filter });
  await cp(join(root, 'tsconfig.json'), join(folder, 'tsconfig.json'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const told = await runIn(folder, 'npm', 'pack', '--json', '--silent', './client');
  const [pack]: [Pack] = JSON.parse(told.slice(told.indexOf('[')));
  const project = await installTarball(test, join(folder, pack.filename));
  return { project, packed: pack.files.map(({ path }) => path) };
}

/** Installs the stored tarball. Returns the folder of the package. */
export async function installKept(test: Ending): Promise<string> {
  const project = await installTarball(test, join(root, 'client/package', clientPackageName));
  return join(project, 'node_modules/@animal-store/client');
}

/** Installs a tarball in a project outside of this one, so that it finds no package of this one. Returns its folder. */
async function installTarball(test: Ending, tarball: string): Promise<string> {
  const project = await makeFolder(test);
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  await runIn(project, 'npm', 'install', tarball);
  return project;
}
