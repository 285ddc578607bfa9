import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { expectCommonHeaders } from '../../test/support/expect-error.ts';
import { openRaw } from '../../test/support/raw-http.ts';
import { createRandom, type Random } from '../random.ts';
import type { TortureContext } from '../scenario.ts';
import type { Target } from '../target.ts';

/** A client, and the sums of its answers. */
export interface LoadClient {
  readonly key: string;
  readonly pauseMs: number;
  readonly mayBeRefused: boolean;
  /** Number of requests within the limit. */
  passed: number;
  refused: number;
  added: number;
  /** The least number of requests left in the day window. */
  leftOfDay: number;
}

const statuses = ['', '&status=available', '&status=pending', '&status=sold'];
const share = { list: 0.6, get: 0.3 };

/** Creates a random request: 60 % lists, 30 % gets, 10 % adds. */
function writeRequest(
  key: string,
  random: Random,
  added: number,
): { readonly text: string; readonly status: number } {
  const head = `Host: a\r\nAuthorization: Bearer ${key}\r\n`;
  const choice = random.next();
  if (choice < share.list)
    return {
      status: 200,
      text: `GET /v1/pets?limit=${random.between(1, 100)}${random.pick(statuses)} HTTP/1.1\r\n${head}\r\n`,
    };
  if (choice < share.list + share.get)
    return { status: 200, text: `GET /v1/pets/${1 + (added % 100)} HTTP/1.1\r\n${head}\r\n` };
  const body = JSON.stringify({ name: `n${random.between(0, 1e9)}`, categoryId: random.between(0, 1e9) });
  return {
    status: 201,
    text: `POST /v1/pets HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  };
}

/** Sends one request after the other until `isOver` returns true. Throws if an answer is wrong. */
export async function runClient(
  context: TortureContext,
  { url }: Target,
  client: LoadClient,
  seed: number,
  isOver: () => boolean,
  onAnswer: (ms: number) => void,
): Promise<void> {
  const random = createRandom(seed);
  const connection = await openRaw(context, url);
  while (!isOver()) {
    const { text, status } = writeRequest(client.key, random, client.passed);
    const startedMs = performance.now();
    connection.send(text);
    const answer = await connection.read();
    onAnswer(performance.now() - startedMs);
    expectCommonHeaders(answer);
    const isRefused = answer.status === 429;
    assert.ok(
      answer.status === status || (isRefused && client.mayBeRefused),
      `${answer.status}: ${answer.body}`,
    );
    client[isRefused ? 'refused' : 'passed'] += 1;
    client.added += Number(answer.status === 201);
    const left = Number(/"day";r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1]);
    client.leftOfDay = Math.min(client.leftOfDay, left);
    await pause(client.pauseMs);
  }
  connection.end();
}
