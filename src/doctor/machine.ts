import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { type Finding, ok, problem, warning } from './finding.ts';

/** The oldest major version of Node.js that can run the program. */
const nodeMajorMin = Number(/\d+/.exec(manifest.engines.node)?.[0]);

/** From this major version on, each one gets long-term support; before, those with an even number. */
const everyMajorIsLts = 27;

/** Checks that this version of Node.js can run the program. */
export function checkNode(version = process.versions.node): Finding {
  const major = Number.parseInt(version, 10);
  const is = `Node.js ${version}`;
  if (major < nodeMajorMin) return problem('node', is, `install Node.js ${nodeMajorMin} or newer`);
  if (major >= everyMajorIsLts || major % 2 === 0) return ok('node', is);
  const todo = 'install a release with long-term support';
  return warning('node', `${is}, a release without long-term support`, todo);
}

/** The plausible years. A clock with another year was never set. */
const firstYear = 2026;
const lastYear = 2100;

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
const deployedFiles = ['/etc/animal-store.env', new URL('../../deploy/.env', import.meta.url).pathname];

/** Rights of a mode: any of the group or of others, to write for both, and for others to read and to enter a folder. */
const groupOrOthers = 0o077;
const write = 0o022;
const read = 0o004;
const enter = 0o001;
/** In a folder with this bit, only the owner of a file can replace it. */
const sticky = 0o1000;

/** The platform that mounts secrets sets their modes, and only the service sees them. */
const mounted = /^\/run\/(?:secrets|credentials)\//;

/**
 * Checks that only the owner has permissions on `deployedFiles` and on these files with secrets. Ignores missing files and
 * those that a platform mounts.
 */
export async function checkSecretFiles(named: readonly string[]): Promise<Finding[]> {
  const own = [...deployedFiles, ...named].filter((file) => !mounted.test(file));
  const findings = own.map(async (file) => {
    const mode = await readMode(file);
    if (mode === undefined) return [];
    if ((mode & groupOrOthers) === 0) return [ok('secrets', `only the owner has access to ${file}`)];
    const is = `other users have access to ${file} (${formatMode(mode)})`;
    return [warning('secrets', is, `chmod 600 ${file}`)];
  });
  return (await Promise.all(findings)).flat();
}

/** A folder for backups, beside the folder of the store. */
const backupFolder = '/var/backups';

/**
 * Checks that only the owner can change the store and replace it in its folder. Unless `mayOthersRead`, also checks
 * that users outside their groups cannot read the store, its copies in the same folder, and its backups in `backups`.
 */
export async function checkOwnership(
  file: string,
  mayOthersRead: boolean,
  backups = backupFolder,
): Promise<Finding> {
  const folder = dirname(file);
  const { mode: fileMode } = await stat(file);
  const { mode: folderMode } = await stat(folder);
  const modes = `${file} ${formatMode(fileMode)}, ${folder} ${formatMode(folderMode)}`;
  const isSticky = (folderMode & sticky) !== 0;
  if ((fileMode & write) !== 0 || ((folderMode & write) !== 0 && !isSticky))
    return problem('permissions', `others can write to the store: ${modes}`, `chmod go-w ${folder} ${file}`);
  const isStore = (name: string) => name.startsWith(basename(file)) || /\.db\b/.test(name);
  const isBackup = (name: string) => name.includes('animal-store');
  const copies = [await listReadable(folder, isStore), await listReadable(backups, isBackup)];
  const names = copies.flat().join(' ');
  if (mayOthersRead || names === '') return ok('permissions', modes);
  return warning('permissions', `others can read the store or a copy: ${names}`, `chmod o-rwx ${names}`);
}

/** Returns the permissions of a file, or undefined if there is none. */
async function readMode(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(() => null);
  return found?.mode;
}

/** Lists the files of a folder that every user of the machine can read. */
async function listReadable(folder: string, isMeant: (name: string) => boolean): Promise<string[]> {
  const allows = async (path: string, right: number) => {
    const mode = (await readMode(path)) ?? 0;
    return (mode & right) !== 0;
  };
  if (!(await allows(folder, enter))) return [];
  const files = (await readdir(folder).catch(() => [])).filter(isMeant);
  const paths = files.map((file) => join(folder, file));
  const isOpen = await Promise.all(paths.map((path) => allows(path, read)));
  return paths.filter((_, index) => isOpen[index]);
}

function formatMode(mode: number): string {
  return (mode & 0o777).toString(8).padStart(3, '0');
}
