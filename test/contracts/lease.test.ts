import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { hourMs } from '../../src/clock.ts';
import { createLease, leaseMs, renewalMs } from '../../src/jobs/lease.ts';
import { describeOnEngines } from '../support/engines.ts';

await describeOnEngines('a lease', (engine) => {
  /** Opens the leases of two instances, of which the first one has it. */
  async function openTwo(t: TestContext) {
    const store = await engine.createStore(t);
    const time = { elapsedMs: 0 };
    const open = async () => createLease(await store.open(), 'work', () => time.elapsedMs);
    const [one, other] = [await open(), await open()];
    await one.renew();
    await other.renew();
    assert.ok(one.leftMs() > 0);
    return { store, time, one, other };
  }

  test('an instance that released its lease has it no longer', async (t) => {
    const { one } = await openTwo(t);
    await one.release();
    assert.equal(one.leftMs(), 0);
  });

  // Only one instance serves a store in SQLite.
  if (engine.name === 'SQLite') return;

  test('only one instance has the lease, whatever the clock of the store does', async (t) => {
    const { store, time, one, other } = await openTwo(t);
    for (const stepMs of [0, -hourMs, hourMs, 2 * hourMs]) {
      await store.execute(`update leases set until_ms = until_ms - ${stepMs}`);
      for (let beat = 0; beat < 8; beat += 1, time.elapsedMs += renewalMs) {
        await other.renew();
        await one.renew();
        assert.deepEqual([one.leftMs(), other.leftMs()], [leaseMs, 0]);
      }
    }
  });

  test('another instance takes the lease over within 30 s after a death', async (t) => {
    const { time, one, other } = await openTwo(t);
    for (; other.leftMs() === 0; time.elapsedMs += renewalMs) await other.renew();
    assert.equal(one.leftMs(), 0);
    assert.ok(time.elapsedMs <= 30_000);
    await one.renew();
    assert.equal(one.leftMs(), 0);
  });

  test('another instance takes a released lease over at once', async (t) => {
    const { one, other } = await openTwo(t);
    // A released lease is not taken again, even if a renewal is running.
    const renewal = one.renew();
    await Promise.all([one.release(), renewal]);
    await one.renew();
    assert.equal(one.leftMs(), 0);
    await other.renew();
    assert.ok(other.leftMs() > 0);
  });
});
