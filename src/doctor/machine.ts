import { stat } from 'node:fs/promises';
import manifest from '../../package.json' with { type: 'json' };
import { type Finding, ok, problem, warning } from './finding.ts';

/** The oldest major version of Node.js that can run the program. */
const nodeMajorMin = Number(/\d+/.exec(manifest.engines.node)?.[0]);

/** Checks that this version of Node.js can run the program. */
export function checkNode(version = process.versions.node): Finding {
  const major = Number.parseInt(version, 10);
  const is = `Node.js ${version}`;
  if (major < nodeMajorMin) return problem('node', is, `install Node.js ${nodeMajorMin} or newer`);
  if (major % 2 === 1)
    return warning(
      'node',
      `${is}, a release without long-term support`,
      'install a release with an even number',
    );
  return ok('node', is);
}

/** Files with secrets, which operators create by the steps of deploy/README.md. */
const secretFiles = ['/etc/animal-store.env', new URL('../../deploy/.env', import.meta.url).pathname];

const [groupOrOthers, write, read] = [0o077, 0o022, 0o004];

/** Checks that only the owner has permissions on the files with secrets. Ignores missing files. */
export async function checkSecretFiles(files: readonly string[] = secretFiles): Promise<Finding[]> {
  const findings = files.map(async (file) => {
    const mode = (await stat(file).catch(() => null))?.mode;
    if (mode === undefined) return [];
    if ((mode & groupOrOthers) === 0) return [ok('secrets', `only the owner has access to ${file}`)];
    return [
      warning('secrets', `other users have access to ${file} (${formatMode(mode)})`, `chmod 600 ${file}`),
    ];
  });
  return (await Promise.all(findings)).flat();
}

/**
 * Checks that only the owner can change the file and replace it in its folder. Unless `mayOthersRead`, also checks that
 * users outside the group of the file cannot read the file.
 */
export async function checkOwnership(file: string, folder: string, mayOthersRead: boolean): Promise<Finding> {
  const [fileMode, folderMode] = [(await stat(file)).mode, (await stat(folder)).mode];
  const modes = `${file} ${formatMode(fileMode)}, ${folder} ${formatMode(folderMode)}`;
  const isSticky = (folderMode & 0o1000) !== 0;
  if ((fileMode & write) !== 0 || ((folderMode & write) !== 0 && !isSticky))
    return problem('permissions', `others can write to the store: ${modes}`, `chmod go-w ${folder} ${file}`);
  if (!mayOthersRead && (fileMode & read) !== 0 && (folderMode & 0o001) !== 0)
    return warning('permissions', `others can read the store: ${modes}`, `chmod 700 ${folder}`);
  return ok('permissions', modes);
}

function formatMode(mode: number): string {
  return (mode & 0o777).toString(8).padStart(3, '0');
}
