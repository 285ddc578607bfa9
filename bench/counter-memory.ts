/**
 * Measures the memory of accounts with open rate limit windows, and the time to store and load all windows.
 *
 * node --expose-gc bench/counter-memory.ts [accounts]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createCounterStore } from '../src/limits/memory/counter-store.ts';
import { createMemoryCounters } from '../src/limits/memory/memory-counters.ts';
import { freeLimits } from '../src/plans/plan.ts';
import { openSqlite } from '../src/storage/sqlite/database.ts';

const accounts = Number(process.argv[2] ?? 1_000_000);
const clock = () => Date.now();

function usedBytes(): number {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc');
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

async function time(act: () => Promise<void>): Promise<string> {
  const startMs = performance.now();
  await act();
  return ((performance.now() - startMs) / 1e3).toFixed(1);
}

function milliseconds(nanoseconds: number): string {
  return (nanoseconds / 1e6).toFixed(1);
}

const folder = mkdtempSync(join(tmpdir(), 'counter-memory-'));
const database = await openSqlite(join(folder, 'store.db'));
try {
  const counters = createMemoryCounters();
  const store = createCounterStore({ counters, database, clock });
  const beforeBytes = usedBytes();
  for (let id = 1; id <= accounts; id += 1) counters.take(`account:${id}`, freeLimits, 'key', clock());
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const storedSeconds = await time(store.flush);
  delay.disable();
  const bytes = usedBytes() - beforeBytes;
  const another = createMemoryCounters();
  const loadedSeconds = await time(createCounterStore({ counters: another, database, clock }).load);
  process.stdout.write(
    `${accounts} accounts on Node ${process.version}: ${Math.round(bytes / 1e6)} MB, ` +
      `${Math.round(bytes / accounts)} bytes an account\n` +
      `stored in ${storedSeconds} s, the event loop blocked for ${milliseconds(delay.percentile(99))} ms (p99), ` +
      `${milliseconds(delay.max)} ms (longest)\nloaded in ${loadedSeconds} s, ` +
      `${another.windows.accounts.size} accounts\n`,
  );
} finally {
  await database.close();
  rmSync(folder, { recursive: true });
}
