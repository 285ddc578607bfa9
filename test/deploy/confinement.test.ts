import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { whyNoMounts, withMounts } from '../support/mounts.ts';
import { runProgram, serveInProcess } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';

const skip = whyNoMounts();
const readDeploy = (name: string) => readFile(join(import.meta.dirname, '../../deploy', name), 'utf8');

test('an import of 50,000 rows, an export, a backup and a service write only to the data folder', {
  skip,
}, async (t) => {
  const data = join(await makeFolder(t), 'data');
  await mkdir(data);
  const readOnly = ['/tmp', '/var/tmp', '/dev/shm', '/'].map((folder) => ({ readOnly: folder }));
  const wrapper = withMounts({ from: data, at: data }, ...readOnly);
  const settings = { ENVIRONMENT: 'staging', DATABASE_URL: `sqlite:${join(data, 'store.db')}` };
  const file = join(data, 'animals.csv');
  const lines = Array.from({ length: 50_000 }, (_, row) => `an animal with a longer name ${row},${row}`);
  await writeFile(file, `name,categoryId\n${lines.join('\n')}\n`);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runProgram([...args, '--json'], { settings, wrapper });
    assert.equal(code, 0, stdout + stderr);
    return JSON.parse(stdout);
  };
  for (let times = 1; times <= 2; times += 1) assert.equal((await run('import', file)).imported, 50_000);
  assert.equal((await run('export', '--output', join(data, 'all.ndjson'))).exported, 100_000);
  assert.ok((await run('backup', join(data, 'backup.db'))).bytes > 0);
  const service = await serveInProcess(t, { settings, wrapper });
  assert.equal((await service.end('SIGTERM')).code, 0);
  const left = (await readdir(data)).filter((name) => !name.startsWith('store.db'));
  assert.deepEqual(left.sort(), ['all.ndjson', 'animals.csv', 'backup.db']);
});

test('the systemd unit makes everything but the state folder read-only and forbids privileges and core dumps', async () => {
  const unit = await readDeploy('animal-store.service');
  const directives = unit.split('\n').filter((line) => /^\w+=/.test(line));
  for (const directive of [
    'User=animal-store',
    'StateDirectory=animal-store',
    'StateDirectoryMode=0700',
    'UMask=0077',
    'ProtectSystem=strict',
    'ProtectHome=yes',
    'PrivateTmp=yes',
    'NoNewPrivileges=yes',
    'CapabilityBoundingSet=',
    'LimitCORE=0',
  ])
    assert.ok(directives.includes(directive), directive);
  assert.doesNotMatch(unit, /^(?:ReadWritePaths|BindPaths)=/m);
});

test('the docker run command and the compose file both set a read-only root, no capabilities and no core dumps', async () => {
  const [readme, compose, dockerfile] = await Promise.all([
    readDeploy('README.md'),
    readDeploy('compose.yaml'),
    readDeploy('Dockerfile'),
  ]);
  const [command = ''] = /docker run .*animal-store`/.exec(readme) ?? [];
  for (const option of [
    '--read-only',
    '--cap-drop ALL',
    '--security-opt no-new-privileges',
    '--ulimit core=0',
  ])
    assert.ok(command.includes(option), option);
  const [, instance = ''] = /^x-instance: &instance\n((?: .*\n)+)/m.exec(compose) ?? [];
  for (const line of [
    'read_only: true',
    'cap_drop: [ALL]',
    "security_opt: ['no-new-privileges:true']",
    'ulimits: { core: 0 }',
  ])
    assert.ok(instance.includes(`  ${line}\n`), line);
  assert.match(dockerfile, /^USER node$/m);
});

test('every base image is pinned to an exact version', async () => {
  const [compose, dockerfile] = await Promise.all([readDeploy('compose.yaml'), readDeploy('Dockerfile')]);
  const images = [
    ...[...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image),
    ...[...compose.matchAll(/^ +image: (\S+:\S+)/gm)].map(([, image = '']) => image),
  ];
  assert.ok(images.length >= 4);
  for (const image of images)
    assert.match(image, /:\d+\.\d+(?:\.\d+)?(?:-\w+)?$|@sha256:[\da-f]{64}$/, image);
});
