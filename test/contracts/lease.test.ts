import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hourMs } from '../../src/clock.ts';
import { createLease, leaseMs, renewalMs } from '../../src/jobs/lease.ts';
import { describeOnEngines } from '../support/engines.ts';

await describeOnEngines('a lease', (engine) => {
  test('only one instance has the lease, and another takes it over at once after its release and within 30 s after a death, whatever the clock of the store does', async (t) => {
    const store = await engine.createStore(t);
    let elapsedMs = 0;
    const elapsed = () => elapsedMs;
    const one = createLease(await store.open(), 'work', elapsed);
    const other = createLease(await store.open(), 'work', elapsed);
    await one.renew();
    await other.renew();
    assert.ok(one.leftMs() > 0);
    if (engine.name === 'SQLite') {
      await one.release();
      return assert.equal(one.leftMs(), 0);
    }
    for (const stepMs of [0, -hourMs, hourMs, 2 * hourMs]) {
      await store.execute(`update leases set until_ms = until_ms - ${stepMs}`);
      for (let beat = 0; beat < 8; beat += 1, elapsedMs += renewalMs) {
        await other.renew();
        await one.renew();
        assert.deepEqual([one.leftMs(), other.leftMs()], [leaseMs, 0]);
      }
    }
    const diedAtMs = elapsedMs;
    for (; other.leftMs() === 0; elapsedMs += renewalMs) await other.renew();
    assert.equal(one.leftMs(), 0);
    assert.ok(elapsedMs <= diedAtMs + 30_000);
    await one.renew();
    assert.equal(one.leftMs(), 0);
    // A released lease is not taken again, even if a renewal is running.
    const renewal = other.renew();
    await Promise.all([other.release(), renewal]);
    await other.renew();
    assert.equal(other.leftMs(), 0);
    await one.renew();
    assert.ok(one.leftMs() > 0);
  });
});
