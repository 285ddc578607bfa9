import { stat } from 'node:fs/promises';
import manifest from '../../package.json' with { type: 'json' };
import { type Finding, ok, problem, warning } from './finding.ts';

/** The oldest Node.js that can run the program. */
const nodeMajorMin = Number(/\d+/.exec(manifest.engines.node)?.[0]);

/** Whether this Node.js can run the program. */
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

/** Files with secrets. Operators create them as deploy/README.md says. */
const secretFiles = ['/etc/animal-store.env', new URL('../../deploy/.env', import.meta.url).pathname];

const [groupOrOthers, write, read] = [0o077, 0o022, 0o004];

/** Whether only the owner can read the files with secrets. Missing files are ignored. */
export async function checkSecretFiles(files: readonly string[] = secretFiles): Promise<Finding[]> {
  const findings = files.map(async (file) => {
    const mode = (await stat(file).catch(() => null))?.mode;
    if (mode === undefined) return [];
    if ((mode & groupOrOthers) === 0) return [ok('secrets', `only the owner can read ${file}`)];
    return [warning('secrets', `others can read ${file} (${formatMode(mode)})`, `chmod 600 ${file}`)];
  });
  return (await Promise.all(findings)).flat();
}

/** Whether only the owner can write to a file and its folder and, unless `mayOthersRead`, read the file. */
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
