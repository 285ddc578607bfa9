/**
 * `node bench/console.ts` measures the time of each call of the console's API, and the time for which the call blocks
 * the event loop of the service. The store has a million animals and 10,000 accounts. Exits with 1 if a call misses its
 * bound.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { startApp } from '../src/app.ts';
import { systemClock } from '../src/clock.ts';
import { parseConfig } from '../src/config.ts';
import { createEventIds } from '../src/events/event-ids.ts';
import { createLog } from '../src/observability/log.ts';
import { consoleOperations } from '../src/operator/console/console.ts';
import { createSessions } from '../src/operator/sessions.ts';
import { readSecret } from '../src/storage/store-facts.ts';
import { openStore } from '../src/store.ts';
import { makeTemporaryFolder } from './cleanup.ts';
import { type ConsoleCall, listConsoleCalls, listMissing } from './console-calls.ts';
import type { SentAnswer, SentCall } from './console-client.ts';
import { fillStore, sizes } from './console-store.ts';
import { medianOf } from './statistics.ts';

const rounds = 11;
const serviceMsMax = 100;
const heldMsMax = 10;
/** The sampling interval of the event loop, which is part of each measured delay. */
const resolutionMs = 1;

const config = parseConfig({
  PORT: '0',
  OPS_PORT: '0',
  ENVIRONMENT: 'production',
  LOG_LEVEL: 'fatal',
  DATABASE_URL: `sqlite:${join(makeTemporaryFolder(), 'console.db')}`,
});
const store = await openStore(config, systemClock);
const eventId = createEventIds(await readSecret(store.database, 'cursor')).write(1n);
const calls = listConsoleCalls(eventId);
const missing = listMissing(consoleOperations, calls);
if (missing.length > 0) throw new Error(`no call measures ${missing.join(', ')}`);
const file = new DatabaseSync(config.databaseUrl.replace('sqlite:', ''));
fillStore(file, Date.now());
file.close();
const app = await startApp(config, systemClock, createLog(config.logLevel, process.stderr));
const client = new Worker(new URL('./console-client.ts', import.meta.url));
const cookie = await signIn();
try {
  const text = Object.entries(sizes).map(([name, count]) => `${name} ${count}`);
  process.stdout.write(`${text.join(', ')}; ${rounds} rounds\n`);
  process.stdout.write(`${'ms: median and maximum of'.padEnd(62)}service       blocked\n`);
  for (const call of calls) await report(call);
} finally {
  await client.terminate();
  await store.close();
  await app.close();
}

async function signIn(): Promise<string> {
  const { token } = await createSessions(store.database, systemClock).makeLink('bench');
  return (await send('POST', '/sign-in', { token }, '')).cookie;
}

async function send(method: string, path: string, body: unknown, withCookie: string): Promise<SentAnswer> {
  const answered = once(client, 'message');
  const url = `${app.opsUrl}/console/api${path}`;
  client.postMessage({ method, url, body, cookie: withCookie } satisfies SentCall);
  const [answer] = (await answered) as [SentAnswer];
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer;
}

async function report(call: ConsoleCall): Promise<void> {
  const serviceMs: number[] = [];
  const heldMs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const delay = monitorEventLoopDelay({ resolution: resolutionMs });
    delay.enable();
    await pause(2 * resolutionMs);
    delay.reset();
    serviceMs.push((await send(call.method, call.path(round), call.body?.(round), cookie)).ms);
    await pause(2 * resolutionMs);
    delay.disable();
    heldMs.push(Math.max(0, delay.max / 1e6 - resolutionMs));
  }
  const isMissed = medianOf(serviceMs) > serviceMsMax || medianOf(heldMs) > heldMsMax;
  if (isMissed) process.exitCode = 1;
  const name = `${call.method} ${call.path(0)}`.padEnd(56);
  process.stdout.write(`${name}${show(serviceMs)}  ${show(heldMs)}${isMissed ? '  MISSED' : ''}\n`);
}

function show(values: readonly number[]): string {
  return [medianOf(values), Math.max(...values)].map((value) => value.toFixed(1).padStart(7)).join('');
}
