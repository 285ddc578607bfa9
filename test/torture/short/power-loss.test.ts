import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPowerLoss, powerLoss } from '../../../torture/power-loss/power-loss.ts';
import { runScenario } from '../../../torture/run-scenario.ts';
import { testShort } from './test-short.ts';

const scale = 0.03;

testShort(powerLoss, scale);

/** Returns the source of a preload that loads a module in the process and in all its worker threads. */
function loadEverywhere(module: string): string {
  const address = `data:text/javascript,${encodeURIComponent(module)}`;
  return `
    import ${JSON.stringify(address)};
    import { syncBuiltinESMExports } from 'node:module';
    import threads from 'node:worker_threads';
    const { Worker } = threads;
    threads.Worker = class extends Worker {
      constructor(file, { execArgv = [], ...options } = {}) {
        super(file, { ...options, execArgv: [...execArgv, '--import', ${JSON.stringify(address)}] });
      }
    };
    syncBuiltinESMExports();`;
}

for (const mode of ['normal', 'off'])
  test(`the scenario detects that a service with synchronous = ${mode} loses answered writes`, async (t) => {
    const weaken = `
      import { DatabaseSync } from 'node:sqlite';
      const { exec } = DatabaseSync.prototype;
      DatabaseSync.prototype.exec = function (sql) {
        return exec.call(this, sql.replace(/synchronous *= *full/i, 'synchronous = ${mode}'));
      };`;
    const run = runScenario(createPowerLoss(loadEverywhere(weaken)), { seed: 1, scale, log: () => {} });
    const result = await run.catch((error: Error) => error);
    if (result instanceof Error) return assert.match(result.message, /is lost|is damaged/);
    assert.equal(result.kind, 'skipped');
    t.skip(result.kind === 'skipped' ? result.reason : '');
  });
