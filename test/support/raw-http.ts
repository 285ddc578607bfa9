import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import type { Ending } from './service.ts';

/** A response as it was received, with all repeated headers. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** A connection that can send any bytes, such as malformed HTTP. */
export type RawConnection = Awaited<ReturnType<typeof openRaw>>;

/** Opens a connection to a service and sends the text, if any. Closes the connection after the test. */
export async function openRaw(test: Ending, baseUrl: string, text = '') {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
  test.after(() => socket.destroy());
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  const received = receive(socket);
  if (text !== '') socket.write(text, 'latin1');

  /**
   * Reads the next response. An answer to HEAD needs the shape `bodiless`. Rejects if the connection ends first. The
   * `cause` of the rejection is the error of the connection, if any.
   */
  async function read(shape?: 'bodiless'): Promise<RawResponse> {
    const head = await received.until('\r\n\r\n');
    const [statusLine = '', ...lines] = head.split('\r\n');
    const headers = new Headers(lines.map((line) => line.split(/:(.*)/s, 2) as [string, string]));
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    const hasBody = shape !== 'bodiless' && status >= 200 && status !== 204 && status !== 304;
    const length = hasBody ? Number(headers.get('content-length')) : 0;
    return { status, headers, body: await received.exactly(length) };
  }

  return {
    send: (text: string) => void socket.write(text, 'latin1'),
    read,
    /** Reads all responses until the service closes the connection, and then closes this side, too. */
    async readAll(): Promise<RawResponse[]> {
      const responses: RawResponse[] = [];
      while (!(await received.isOver())) responses.push(await read());
      socket.end();
      return responses;
    },
    /** Half-closes the connection. Answers can still be read. */
    end: () => void socket.end(),
    /** Closes the connection with a TCP reset. */
    reset: () => void socket.resetAndDestroy(),
  };
}

function receive(socket: Socket) {
  let unread = Buffer.alloc(0);
  let ended = false;
  let failure: Error | undefined;
  let wake = () => {};
  socket.on('data', (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk]);
    wake();
  });
  socket.on('error', (error) => {
    failure ??= error;
  });
  for (const event of ['end', 'close', 'error'])
    socket.on(event, () => {
      ended = true;
      wake();
    });

  async function more(): Promise<void> {
    if (ended)
      throw new Error(`the connection ended after ${JSON.stringify(unread.toString())}`, { cause: failure });
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }

  async function exactly(length: number): Promise<string> {
    while (unread.length < length) await more();
    const taken = unread.subarray(0, length).toString();
    unread = unread.subarray(length);
    return taken;
  }

  return {
    exactly,

    async until(mark: string): Promise<string> {
      while (!unread.includes(mark)) await more();
      const text = await exactly(unread.indexOf(mark));
      await exactly(mark.length);
      return text;
    },

    async isOver(): Promise<boolean> {
      while (unread.length === 0 && !ended) await more();
      return unread.length === 0;
    },
  };
}

/** Sends parts on a new connection. Returns the responses until the service closes the connection. */
export async function exchangeRaw(test: Ending, baseUrl: string, ...parts: string[]): Promise<RawResponse[]> {
  const connection = await openRaw(test, baseUrl);
  for (const part of parts) connection.send(part);
  return connection.readAll();
}

/** Like `exchangeRaw`. Throws unless there is exactly one response. */
export async function exchangeOne(test: Ending, baseUrl: string, ...parts: string[]): Promise<RawResponse> {
  const [response, ...others] = await exchangeRaw(test, baseUrl, ...parts);
  assert.deepEqual(others, []);
  return response ?? assert.fail('no response');
}

/** Throws unless the responses have these statuses, in this order. */
export function expectStatuses(
  responses: readonly { readonly status: number }[],
  ...statuses: number[]
): void {
  const received = responses.map(({ status }) => status);
  assert.deepEqual(received, statuses);
}

export const rexText = '{"name":"Rex","categoryId":1}';

/**
 * Returns the heads of raw requests for `/pets` with a key, without the empty line at their end, their first lines, and a
 * whole request that adds an animal.
 */
export function formatHeads(key: string) {
  const host = 'Host: localhost\r\n';
  const authorization = `Authorization: Bearer ${key}\r\n`;
  const post = `POST /v1/pets HTTP/1.1\r\n${host}${authorization}Content-Type: application/json\r\n`;
  return {
    host,
    authorization,
    get: `GET /v1/pets HTTP/1.1\r\n${host}${authorization}`,
    post,
    add: `${post}Content-Length: ${rexText.length}\r\n\r\n${rexText}`,
  };
}

/** Formats a request, by default with `connection: close`. `line` has the method and the target: `GET /v1/pets`. */
export function formatRequest(line: string, headers: Readonly<Record<string, string>>, body = ''): string {
  const lines = Object.entries({ host: 'localhost', connection: 'close', ...headers });
  return `${line} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}
