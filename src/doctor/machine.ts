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
  if (major % 2 === 0) return ok('node', is);
  const old = `${is}, a release without long-term support`;
  return warning('node', old, 'install a release with an even number');
}

/** The plausible years. A clock with another year was never set. */
const [firstYear, lastYear] = [2026, 2100];

/** What the operator should do about a wrong clock. */
export const howToSetClock = 'set the clock by NTP: timedatectl set-ntp true';

/** Checks that the clock of this machine shows a plausible time. */
export function checkClock(nowMs: number): Finding {
  const now = new Date(nowMs);
  const is = `this machine shows ${now.toISOString().slice(0, 19)}Z`;
  const year = now.getUTCFullYear();
  if (year >= firstYear && year <= lastYear) return ok('clock', is);
  return problem('clock', `${is}, which is impossible`, howToSetClock);
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
    const is = `other users have access to ${file} (${formatMode(mode)})`;
    return [warning('secrets', is, `chmod 600 ${file}`)];
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
