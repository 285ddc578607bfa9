import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts';
import type { Service } from 'kubernetes-types/core/v1.d.ts';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts';
import { parse, parseAllDocuments } from 'yaml';
import { parseConfig, settings } from '../../src/config.ts';
import { operations } from '../../src/http/api/operations.ts';
import { connectionsMax } from '../../src/http/connection/bounds.ts';
import { makeFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '../..');
const read = (name: string) => readFile(join(root, 'deploy', name), 'utf8');
const readDocuments = async (name: string) =>
  parseAllDocuments(await read(name)).map((document) => document.toJS());
const manifests = await read('kubernetes/animal-store.yaml');
const composeFile = await read('compose.yaml');
const dockerfile = await read('Dockerfile');
const readme = await read('README.md');
const nginxConf = await read('nginx.conf');
const unit = await read('animal-store.service');
const backupUnit = await read('animal-store-backup.service');
const script = await read('animal-store');
const jobs = [
  ...(await readDocuments('kubernetes/backup.yaml')),
  ...(await readDocuments('kubernetes/new-store.yaml')),
];
const [deployment, service, budget] = parseAllDocuments(manifests).map((document) => document.toJS()) as [
  Deployment,
  Service,
  PodDisruptionBudget,
];
interface ComposeService {
  readonly image: string;
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly stop_grace_period?: string;
}
const { services }: { services: Record<string, ComposeService> } = parse(composeFile, { merge: true });
const instances = Object.entries(services).flatMap(([name, one]) => (/^service-\d$/.test(name) ? [one] : []));

/** The seconds that a shutdown takes at most after its drain. */
const shutdownSecondsMax = 10;
/** What the operator provides. */
const provided = {
  DATABASE_URL: 'postgres://animal_store@h1,h2/animal_store',
  WEBHOOK_SECRET_KEY: randomBytes(32).toString('base64'),
};

/** The settings that the image has unless a container overrides them. */
function readImageSettings(): Record<string, string> {
  const [, block = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(dockerfile) ?? [];
  return Object.fromEntries(block.split(/[\s\\]+/).map((pair) => pair.split(/=(.*)/).slice(0, 2)));
}

/** Parses the settings of a container as the service does. Every name must be known. */
function parseSettings(given: Record<string, string>) {
  for (const name of Object.keys(given)) assert.ok(Object.hasOwn(settings, name), name);
  return parseConfig({ ...readImageSettings(), ...given });
}

test('the manifests for Kubernetes have only fields, kinds and types that its interface has', async (t) => {
  const folder = await makeFolder(t);
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const typed = [
    ['apps', 'Deployment', deployment],
    ['core', 'Service', service],
    ['policy', 'PodDisruptionBudget', budget],
    ...['core PersistentVolumeClaim', 'batch CronJob', 'batch Job'].map((kind, index) => [
      ...kind.split(' '),
      jobs[index],
    ]),
  ].map(
    ([group, kind, manifest]) => `
    import type { ${kind} } from 'kubernetes-types/${group}/v1.d.ts';
    export const the${kind}: ${kind} = ${JSON.stringify(manifest, null, 1)};`,
  );
  await writeFile(join(folder, 'manifests.ts'), typed.join(''));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const flags = ['--noEmit', '--strict', '--module', 'preserve', 'manifests.ts'];
  const { status, stdout } = spawnSync(process.execPath, [compiler, ...flags], { cwd: folder });
  assert.deepEqual([status, String(stdout)], [0, '']);
});

test('the Deployment runs three instances that may write nothing and drain before they stop', () => {
  assert.partialDeepStrictEqual(deployment.spec, {
    replicas: 3,
    strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    template: { spec: { automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } } },
  });
  const { containers, terminationGracePeriodSeconds = 0 } = deployment.spec?.template.spec ?? assert.fail();
  const [container = assert.fail()] = containers;
  assert.deepEqual(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  assert.ok(container.resources?.limits?.['memory'] && container.resources.requests?.['cpu']);
  assert.equal(container.livenessProbe?.httpGet?.path, '/healthz');
  assert.equal(container.readinessProbe?.httpGet?.path, '/readyz');

  const env = Object.fromEntries((container.env ?? []).map(({ name, value = '' }) => [name, value]));
  for (const secret of Object.keys(provided)) assert.ok(!(secret in env), secret);
  const { drainMs, opsHost, port, opsPort } = parseSettings({ ...provided, ...env });
  assert.ok(drainMs / 1_000 + shutdownSecondsMax < terminationGracePeriodSeconds);
  assert.equal(opsHost, '0.0.0.0');
  const ports = container.ports?.map(({ name, containerPort }) => `${name} ${containerPort}`);
  assert.deepEqual(ports, [`http ${port}`, `operator ${opsPort}`]);
});

const podLabels = deployment.spec?.template.metadata?.labels;

test('the Service has only the public port of the pods of the Deployment', () => {
  assert.deepEqual(deployment.spec?.selector.matchLabels, podLabels);
  assert.deepEqual(service.spec?.selector, podLabels);
  const targets = service.spec?.ports?.map(({ targetPort }) => targetPort);
  assert.deepEqual(targets, ['http']);
});

test('the budget lets one pod of the Deployment go at a time', () => {
  assert.deepEqual(budget.spec, { maxUnavailable: 1, selector: { matchLabels: podLabels } });
});

/** The environment of an instance of the compose file, with the defaults of the file for what the operator may set. */
function readEnvironment({ environment = {} }: ComposeService): Record<string, string> {
  const toDefault = (value: unknown) => String(value).replace(/^\$\{\w+:-(.*)\}$/, '$1');
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, toDefault(value)]));
}

/** The settings of an instance of the compose file whose operator provides a webhook key. */
function parseInstance(instance: ComposeService) {
  const { PGPASSWORD: _, ...rest } = readEnvironment(instance);
  const { WEBHOOK_SECRET_KEY } = provided;
  return parseSettings({ ...rest, WEBHOOK_SECRET_KEY });
}

test('each of the three instances of the compose file drains before it stops', () => {
  assert.equal(instances.length, 3);
  for (const instance of instances) {
    const { drainMs } = parseInstance(instance);
    const graceSeconds = Number.parseInt(instance.stop_grace_period ?? '', 10);
    assert.ok(drainMs / 1_000 + shutdownSecondsMax < graceSeconds);
  }
});

test('each instance of the compose file has two databases and three Sentinels of the file', () => {
  for (const instance of instances) {
    const { databaseUrl, redisUrl } = parseInstance(instance);
    const addresses = `${databaseUrl} ${redisUrl}`;
    const named = Array.from(addresses.matchAll(/[@/,]([a-z]+-\d):/g), ([, name = '']) => name);
    assert.deepEqual(named, ['postgres-1', 'postgres-2', 'sentinel-1', 'sentinel-2', 'sentinel-3']);
    for (const name of named) assert.ok(name in services);
  }
});

test('each instance of the compose file requires a database password and a webhook key', () => {
  for (const instance of instances) {
    const { PGPASSWORD = '', WEBHOOK_SECRET_KEY = '' } = readEnvironment(instance);
    assert.match(PGPASSWORD, /^\$\{POSTGRES_PASSWORD:\?/);
    assert.match(WEBHOOK_SECRET_KEY, /^\$\{WEBHOOK_SECRET_KEY:\?/);
  }
});

test('docker run and compose both set a read-only root, no capabilities and no core dumps', () => {
  const [command = ''] = /docker run .*animal-store`/.exec(readme) ?? [];
  const options = '--read-only|--cap-drop ALL|--security-opt no-new-privileges|--ulimit core=0';
  for (const option of options.split('|')) assert.ok(command.includes(option), option);
  for (const instance of instances)
    assert.partialDeepStrictEqual(instance, {
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      ulimits: { core: 0 },
    });
  assert.match(dockerfile, /^USER node$/m);
});

test('the systemd unit leaves only the state folder writable and forbids privileges and core dumps', () => {
  const directives = `
    User=animal-store StateDirectory=animal-store StateDirectoryMode=0700 UMask=0077 ProtectSystem=strict
    ProtectHome=yes PrivateTmp=yes NoNewPrivileges=yes CapabilityBoundingSet= LimitCORE=0`;
  const lines = unit.split('\n');
  for (const directive of directives.trim().split(/\s+/)) assert.ok(lines.includes(directive), directive);
  assert.doesNotMatch(unit, /^(?:ReadWritePaths|BindPaths)=/m);
});

const environmentIn = (text: string) =>
  text.match(/(?<=Environment=)[A-Z_]+=\S+|EnvironmentFile=\S+/g)?.sort();

test('commands of the script, backups and the service have the same settings', () => {
  assert.deepEqual(environmentIn(script), environmentIn(unit));
  assert.deepEqual(environmentIn(backupUnit), environmentIn(unit));
});

test('the unit, the image and the Deployment refuse to start on a new store', () => {
  assert.match(unit, /^Environment=REQUIRE_STORE=true$/m);
  assert.equal(parseSettings(provided).requireStore, true);
});

test('nginx allows the methods of the service', () => {
  const [, allowed = ''] = /add_header Allow "(.*)" always;/.exec(nginxConf) ?? [];
  const methods = new Set(['HEAD', ...operations.map(({ method }) => method)]);
  assert.equal(allowed, [...methods].sort().join(', '));
});

test('nginx opens fewer connections than an instance accepts', () => {
  const readNumber = (name: string) => Number(new RegExp(`^\\s*${name} (\\d+);`, 'm').exec(nginxConf)?.[1]);
  const most = readNumber('worker_processes') * readNumber('worker_connections');
  assert.ok(most < connectionsMax, `${most}`);
});

test('every base image is pinned to an exact version', () => {
  const bases = Array.from(dockerfile.matchAll(/^FROM (\S+)/gm), ([, image = '']) => image);
  const others = Object.values(services).filter((one) => !instances.includes(one));
  const images = [...bases, ...others.map(({ image }) => image)];
  assert.ok(images.length >= 4);
  for (const image of images)
    assert.match(image, /:\d+\.\d+(?:\.\d+)?(?:-\w+)?$|@sha256:[\da-f]{64}$/, image);
});
