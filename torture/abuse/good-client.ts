import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { expectCommonHeaders } from '../../test/support/expect-error.ts';
import { openRaw, type RawConnection } from '../../test/support/raw-http.ts';
import type { TortureContext } from '../scenario.ts';
import type { Target } from '../target.ts';

/** What the good client measured. */
export interface Service {
  readonly answers: number;
  /** Number of answers with 201. */
  readonly added: number;
  readonly slowestMs: number;
}

/** The longest time for an answer during abuse, even on a new connection (docs/operations/fault-runs.md). */
const answerMsMax = 15_000;

const pauseMs = 5;
/** Number of requests after which the client opens a new connection, as a new client would. */
const requestsPerConnection = 20;
const rex = '{"name":"Rex","categoryId":1}';

/**
 * Lists, gets and adds animals one after the other until a task is done. Throws if one of its requests is refused, cut
 * off or not answered within `answerMsMax`.
 */
export async function serveBeside<T>(
  context: TortureContext,
  target: Target,
  task: () => Promise<T>,
): Promise<{ readonly value: T; readonly service: Service }> {
  const { key } = await target.store.createKey();
  const head = `Host: localhost\r\nAuthorization: Bearer ${key}\r\n`;
  const requests = [
    [200, `GET /v1/pets?limit=20 HTTP/1.1\r\n${head}\r\n`],
    [
      201,
      `POST /v1/pets HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${rex.length}\r\n\r\n${rex}`,
    ],
    [200, `GET /v1/pets/1 HTTP/1.1\r\n${head}\r\n`],
    [404, `GET /v1/pets/none HTTP/1.1\r\n${head}\r\n`],
  ] as const;
  let answers = 0;
  let added = 0;
  let slowestMs = 0;
  let isOver = false;

  async function ask(connection: RawConnection, [status, text]: (typeof requests)[number]): Promise<void> {
    const impatience = setTimeout(() => connection.reset(), answerMsMax);
    connection.send(text);
    const answer = await connection.read();
    clearTimeout(impatience);
    assert.equal(answer.status, status, answer.body);
    expectCommonHeaders(answer);
    if (status === 201) added += 1;
  }

  async function behave(): Promise<void> {
    for (let turn = 0; !isOver; ) {
      const openedMs = performance.now();
      const connection = await openRaw(context, target.url);
      for (let count = 0; count < requestsPerConnection && !isOver; count += 1, turn += 1) {
        const startedMs = count === 0 ? openedMs : performance.now();
        await ask(connection, requests[turn % requests.length] ?? requests[0]);
        slowestMs = Math.max(slowestMs, performance.now() - startedMs);
        answers += 1;
        await pause(pauseMs);
      }
      connection.reset();
    }
  }

  const behaving = behave();
  const stop = () => {
    isOver = true;
  };
  // Rejects at once if the good client is not served, and otherwise with the task.
  const failed = behaving.then(() => new Promise<never>(() => {}));
  const [value] = await Promise.all([Promise.race([task().finally(stop), failed]), behaving]);
  return { value, service: { answers, added, slowestMs: Math.round(slowestMs) } };
}

/** Formats the measurements for the fault table. */
export function describeService({ answers, slowestMs }: Service): string {
  return `the good client got ${answers} correct answers, the slowest after ${slowestMs} ms`;
}
