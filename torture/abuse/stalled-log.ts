import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expectError } from '../../test/support/expect-error.ts';
import { readMetric } from '../../test/support/instances.ts';
import { until } from '../../test/support/processes.ts';
import { openRaw } from '../../test/support/raw-http.ts';
import { type Scenario, share, type TortureContext } from '../scenario.ts';
import { startTarget, type Target } from '../target.ts';
import { describeService, serveBeside } from './good-client.ts';

const droppedAtFullScale = 50_000;
const clients = 8;
/** Each log line contains the path twice. So the 50,000 dropped lines of a full run would take 400 MB of memory. */
const pathLength = 4_000;
const growthMibMax = 150;
const lookMs = 200;
const logMsMax = 60_000;

export const stalledLog: Scenario = {
  name: 'stalled-log',
  title: 'A log reader that stops reading while each request is logged',
  minutes: 8,
  async run(context) {
    const reader = startReader(context);
    const target = await startTarget(context, { LOG_REQUESTS: 'all' }, reader.wrapper);
    const crowd = await startCrowd(context, target);
    const { service } = await serveBeside(context, target, async () => {
      await crowd.untilAnswered(share(droppedAtFullScale / 10, context));
      reader.stall();
      await watchStall(target, share(droppedAtFullScale, context));
      reader.goOn();
      await crowd.stop();
    });
    const answers = crowd.countAnswers() + service.answers;
    const log = await until(
      () => pause(lookMs).then(reader.countLines),
      ({ requests, dropped }) => requests + dropped === answers,
      logMsMax,
    );
    assert.equal(log.dropped, await readMetric(target, 'animal_store_log_lines_dropped_total'));
    return {
      done: `The reader of the log stopped while ${clients} clients requested paths of ${pathLength} bytes, until ${log.dropped} of ${answers} lines were dropped`,
      seen: `404 as before; ${describeService(service)}`,
      lost: `only log lines: ${log.requests} were written; the log and the metric report ${log.dropped} dropped ones`,
      well: 'when the reader continued',
    };
  },
};

/** Starts a process that reads the log of a service. A signal makes it stall. */
function startReader({ folder, after }: TortureContext) {
  const pipe = join(folder, 'log');
  const file = join(folder, 'log.ndjson');
  spawnSync('mkfifo', [pipe]);
  const reader = spawn('sh', ['-c', 'exec cat "$0" > "$1"', pipe, file], { stdio: 'ignore' });
  after(() => reader.kill('SIGKILL'));
  return {
    /** A command that runs the service and sends its log to the reader. */
    wrapper: ['sh', '-c', 'exec "$@" 2> "$0"', pipe],
    stall: () => reader.kill('SIGSTOP'),
    goOn: () => reader.kill('SIGCONT'),
    /** Returns the number of logged requests, and the number of dropped lines that the log reports. */
    countLines() {
      const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
      const parsed = lines.map((line) => JSON.parse(line) as { requestId?: string; dropped?: number });
      return {
        requests: parsed.filter(({ requestId }) => requestId !== undefined).length,
        dropped: parsed.reduce((sum, { dropped = 0 }) => sum + dropped, 0),
      };
    },
  };
}

/** Starts clients that request unknown addresses, one request after the other. */
async function startCrowd(context: TortureContext, target: Target) {
  const { key } = await target.store.createKey();
  const text = `GET /v1/${'x'.repeat(pathLength)} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  let answers = 0;
  let isOver = false;

  async function ask(): Promise<void> {
    const connection = await openRaw(context, target.url);
    while (!isOver) {
      connection.send(text);
      await expectError(await connection.read(), 404, 'not_found');
      answers += 1;
    }
    connection.end();
  }

  const asking = Promise.all(Array.from({ length: clients }, ask));
  return {
    countAnswers: () => answers,
    async untilAnswered(count: number): Promise<void> {
      while (answers < count) await Promise.race([pause(lookMs), asking]);
    },
    async stop(): Promise<void> {
      isOver = true;
      await asking;
    },
  };
}

/** Waits until the service has dropped `droppedMin` lines. Throws if it grows beyond the bound. */
async function watchStall(target: Target, droppedMin: number): Promise<void> {
  const beforeMib = target.readMemoryMib();
  for (let dropped = 0; dropped < droppedMin; ) {
    await pause(lookMs);
    const growthMib = Math.round(target.readMemoryMib() - beforeMib);
    assert.ok(growthMib < growthMibMax, `the service grew by ${growthMib} MiB`);
    dropped = await readMetric(target, 'animal_store_log_lines_dropped_total');
  }
}
