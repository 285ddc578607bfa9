import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { expectCommonHeaders } from '../../test/support/expect-error.ts';
import { openRaw, type RawConnection } from '../../test/support/raw-http.ts';
import { type Scenario, Skipped } from '../scenario.ts';
import { startTarget } from '../target.ts';
import { share } from './abuse.ts';
import { openCrowd } from './sockets.ts';

const descriptors = 256;
const rex = '{"name":"Rex","categoryId":1}';

/** If the process has no descriptor left, it must serve the open connections and close new ones. */
export const fewDescriptors: Scenario = {
  name: 'few-descriptors',
  title: 'More connections than the process has descriptors for',
  minutes: 2,
  async run(context) {
    if (spawnSync('prlimit', ['--version']).error) throw new Skipped('prlimit is not installed');
    const target = await startTarget(context, {}, ['prlimit', `--nofile=${descriptors}:${descriptors}`]);
    const { key } = await target.createKey();
    const head = `Host: a\r\nAuthorization: Bearer ${key}\r\n`;
    const add = `POST /v1/pets HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${rex.length}\r\n\r\n${rex}`;

    async function ask(connection: RawConnection, status: number, text: string): Promise<void> {
      connection.send(text);
      const answer = await connection.read();
      assert.equal(answer.status, status, answer.body);
      expectCommonHeaders(answer);
    }

    const good = await openRaw(context, target.url);
    await ask(good, 201, add);
    const crowd = await openCrowd(context, target, 2 * descriptors);
    await crowd.untilClosed(descriptors, 60_000);
    const requests = share(1_000, context.scale);
    for (let count = 0; count < requests; count += 1) {
      await ask(good, 200, `GET /v1/pets HTTP/1.1\r\n${head}\r\n`);
      await ask(good, 201, add);
    }
    crowd.destroy();
    const startedMs = performance.now();
    await askUntilServed();
    assert.equal(target.child.exitCode, null);
    return {
      done: `${2 * descriptors} connections to a process that may open ${descriptors} files`,
      seen: `Connected clients: ${2 * requests} × 200 and 201. New connections: ${descriptors} or more were closed`,
      lost: 'nothing',
      well: `${Math.round(performance.now() - startedMs)} ms after the other connections closed`,
      figures: { closed: crowd.countClosed() },
    };

    /** Retries, because the service refuses new clients until it notices that the others have disconnected. */
    async function askUntilServed(): Promise<void> {
      const deadlineMs = performance.now() + 60_000;
      for (;;) {
        try {
          return await ask(await openRaw(context, target.url), 201, add);
        } catch (error) {
          if (performance.now() > deadlineMs) throw error;
        }
      }
    }
  },
};
