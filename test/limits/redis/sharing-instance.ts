import { EventEmitter, once } from 'node:events';
import type { TestContext } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { createMemoryCounters } from '../../../src/limits/memory/memory-counters.ts';
import { createSharedCounters } from '../../../src/limits/redis/shared-counters.ts';
import type { Limits } from '../../../src/plans/plan.ts';

export const pro: Limits = { perMinute: 300, perDay: 10_000 };
export const onceADay: Limits = { perMinute: 1, perDay: 1 };

/** Starts an instance and waits until it shares its counts through Redis. */
export async function startInstance(...options: Parameters<typeof tryToShare>) {
  const instance = await tryToShare(...options);
  await instance.counts('shared');
  return instance;
}

/** Starts an instance that tries to reach Redis every `probeMs`, and waits for its first attempt. */
export async function tryToShare(
  t: TestContext,
  { url, prefix }: { url: string; prefix: string },
  local = createMemoryCounters(),
  probeMs = 10,
) {
  const changes = new EventEmitter();
  const modes: string[] = [];
  const counters = createSharedCounters({
    url,
    prefix,
    local,
    clock: systemClock,
    onChange({ mode }) {
      modes.push(mode);
      changes.emit(mode);
    },
    probeMs,
  });
  t.after(counters.close);
  await counters.probe();

  const take = async (limits = pro, subject = 'account:1', keyId: string | null = `key of ${subject}`) =>
    counters.take(subject, limits, keyId, Date.now());

  return {
    ...counters,
    counters,
    /** How the instance has counted, as it reported it. */
    modes,
    take,
    /** Returns the reason why the instance counts alone, and an empty text if it does not. */
    whyAlone() {
      const sharing = counters.sharing();
      return sharing.mode === 'alone' ? sharing.reason : '';
    },
    /** Returns the ban that the instance would use if it counted alone. */
    keptBan: (keyId: string) => local.keys.get(keyId),
    /** Resolves when the instance counts in this mode. */
    async counts(mode: 'shared' | 'alone'): Promise<void> {
      if (counters.sharing().mode !== mode) await once(changes, mode);
    },
    /** Sends simultaneous requests. Returns the number that pass. */
    async send(count: number, subject?: string): Promise<number> {
      const usages = await Promise.all(Array.from({ length: count }, () => take(pro, subject)));
      return usages.filter(({ verdict }) => verdict === 'passed').length;
    },
  };
}
