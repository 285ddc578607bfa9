/**
 * `npm run sbom` writes what a running service consists of: `release/animal-store.cdx.json` (CycloneDX, for programs) and
 * `docs/operations/licenses.md` (for people). Both come from the lock file alone, so they change only if it does.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const bomFile = join(import.meta.dirname, 'animal-store.cdx.json');
const pageFile = join(root, 'docs/operations/licenses.md');

interface Component {
  readonly name: string;
  readonly version: string;
  readonly licenses?: readonly {
    readonly license?: { readonly id?: string };
    readonly expression?: string;
  }[];
}

interface Reference {
  readonly 'bom-ref': string;
}

interface Dependency {
  readonly ref: string;
  readonly dependsOn: readonly string[];
}

interface Bom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
}

/** Returns the names with versions of the packages that run, from the lock file. */
function listRunning(): Set<string> {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return new Set(
    Object.entries<{ version: string; dev?: boolean }>(packages)
      .filter(([, { dev }]) => dev !== true)
      .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`),
  );
}

/**
 * Returns the bill of materials without the time, the serial number and the name of the folder. It filters by itself,
 * because `npm sbom --omit dev` leaves out what a package that runs shares with one that does not.
 */
function readBom(): Bom {
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
  const text = execFileSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { serialNumber: _number, metadata, components, dependencies, ...bom } = JSON.parse(text);
  const { timestamp: _time, tools: _tools, component, ...rest } = metadata;
  const running = listRunning();
  const isRunning = (reference: string) => running.has(reference);
  return {
    ...bom,
    metadata: { ...rest, component: { ...component, name: 'animal-store' } },
    components: components.filter((one: Reference) => isRunning(one['bom-ref'])),
    dependencies: dependencies
      .filter(({ ref }: Dependency) => ref === component['bom-ref'] || isRunning(ref))
      .map(({ ref, dependsOn }: Dependency) => ({ ref, dependsOn: dependsOn.filter(isRunning) })),
  };
}

/** Returns the licence of a package in SPDX's words. Throws if it names none. */
function licenseOf({ name, licenses = [] }: Component): string {
  const words = licenses.map(({ license, expression }) => license?.id ?? expression);
  if (words.length === 0 || words.includes(undefined)) throw new Error(`${name} names no licence`);
  return words.join(' AND ');
}

/** Replaces the table between the two markers of the page. */
function writePage({ components }: Bom): void {
  const rows = components.map((one) => `| ${one.name} | ${one.version} | ${licenseOf(one)} |`);
  const table = ['| Package | Version | Licence |', '| --- | --- | --- |', ...rows].join('\n');
  const page = readFileSync(pageFile, 'utf8');
  const markers = /(<!-- packages -->\n\n)[\s\S]*(\n\n<!-- end of packages -->)/;
  writeFileSync(
    pageFile,
    page.replace(markers, (_all, start, end) => start + table + end),
  );
}

const bom = readBom();
writeFileSync(bomFile, `${JSON.stringify(bom, null, 2)}\n`);
writePage(bom);
