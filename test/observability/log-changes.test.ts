import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createLogSwitch, type LogChange, type Logging } from '../../src/observability/log-changes.ts';
import { prepareChanges } from '../../src/operator/changes.ts';
import { createSecretBox } from '../../src/webhooks/secret-box.ts';
import { runInProcess } from '../support/command-line.ts';
import { describeOnEngines } from '../support/engines.ts';
import { until } from '../support/processes.ts';
import { recordLog } from '../support/recorded-log.ts';
import { startService } from '../support/service.ts';

const settings: Logging = { level: 'info', requests: 'errors' };

await describeOnEngines('a change of the log', (engine) => {
  async function open(t: TestContext) {
    const store = await engine.createStore(t);
    const database = await store.open();
    const { changeLog } = prepareChanges(
      database,
      () => 0,
      'stg',
      createSecretBox([]),
    )({ kind: 'command', name: 'mira' });
    async function start() {
      const { log } = recordLog(settings.level);
      const logSwitch = createLogSwitch(await store.open(), log, settings);
      await logSwitch.follow();
      return { log, ...logSwitch };
    }
    return { changeLog, start };
  }

  test('reaches every instance that runs', async (t) => {
    const { changeLog, start } = await open(t);
    const instances = [await start(), await start()];
    await changeLog({ level: 'debug', requests: 'all' });
    for (const { follow, read, log } of instances) {
      await follow();
      assert.deepEqual([read(), log.level], [{ level: 'debug', requests: 'all' }, 'debug']);
    }
  });

  test('lasts until the instance starts again', async (t) => {
    const { changeLog, start } = await open(t);
    await changeLog({ level: 'debug', requests: 'all' });
    const { follow, read } = await start();
    await follow();
    assert.deepEqual(read(), settings);
  });

  test('leaves what it does not name as the settings say', async (t) => {
    const { changeLog, start } = await open(t);
    const { follow, read } = await start();
    const made: readonly (readonly [LogChange, Logging])[] = [
      [
        { level: 'debug', requests: null },
        { level: 'debug', requests: 'errors' },
      ],
      [
        { level: null, requests: 'all' },
        { level: 'info', requests: 'all' },
      ],
      [{ level: null, requests: null }, settings],
    ];
    for (const [change, now] of made) {
      await changeLog(change);
      await follow();
      assert.deepEqual(read(), now);
    }
  });
});

test('the command log changes what a running service logs', async (t) => {
  const service = await startService(t, { LOG_LEVEL: 'info' });
  const logsRequests = async () => {
    await service.request(null, '/pets');
    return service.findLines('"status":401').length > 0;
  };
  assert.equal(await logsRequests(), false);
  const ran = await runInProcess('log --requests all', service.config.databaseUrl);
  assert.deepEqual([ran.code, ran.stdout], [0, 'the running instances log with requests all\n']);
  await until(logsRequests, (logs) => logs, 10_000);
  const { items } = await service.store.audit.list({ limit: 1, newestId: null });
  const { action, after } = items[0] ?? assert.fail();
  assert.deepEqual([action, after], ['log.changed', { level: null, requests: 'all' }]);
});

test('the command log wants to know what to change', async () => {
  for (const line of ['log', 'log --reset --level debug'])
    assert.equal((await runInProcess(line, 'sqlite:unused.db')).code, 2);
});
