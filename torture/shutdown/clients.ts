import { setTimeout as pause } from 'node:timers/promises';
import { openRaw, type RawConnection } from '../../test/support/raw-http.ts';
import type { TortureContext } from '../scenario.ts';

/** What clients of a service that stops have seen. */
export interface Seen {
  /** Names of what was answered with 201, by id. */
  readonly answered: Map<bigint, string>;
  /** New connections that were refused, or reset before a byte of an answer, once it had been told to stop. */
  refused: number;
  /** Whether it has been told to stop: before that nothing may be refused. */
  isTold: boolean;
}

export interface Address {
  readonly url: string;
  readonly key: string;
}

function formatAdd({ key }: Address, name: string): { head: string; body: string } {
  const body = JSON.stringify({ name, categoryId: -1 });
  const head = `POST /v1/pets HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return { head, body };
}

/** Reads the answer to an add; tells whether the connection may be used again. */
async function readAdded(connection: RawConnection, name: string, seen: Seen): Promise<boolean> {
  const { status, headers, body } = await connection.read();
  if (status !== 201) throw new Error(`${name} was answered with ${status} ${body}`);
  seen.answered.set(BigInt(/"id":(\d+)/.exec(body)?.[1] ?? 0), name);
  return headers.get('connection') !== 'close';
}

/** Adds one animal after the other on one connection until an answer asks to let go. Throws where one is cut. */
export async function addUntilLetGo(context: TortureContext, address: Address, prefix: string, seen: Seen) {
  const connection = await openRaw(context, address.url);
  for (let count = 0, isOpen = true; isOpen; count += 1) {
    const name = `${prefix} ${count}`;
    const { head, body } = formatAdd(address, name);
    connection.send(head + body);
    isOpen = await readAdded(connection, name, seen);
  }
  connection.end();
}

/**
 * Adds one animal on each of new connections until one is refused. Throws where that is before the service was told to
 * stop, where an answer is cut in its midst, and where a connection is taken and then closed without an answer.
 */
export async function addUntilRefused(context: TortureContext, address: Address, prefix: string, seen: Seen) {
  for (let count = 0; ; count += 1) {
    const name = `${prefix} ${count}`;
    const { head, body } = formatAdd(address, name);
    try {
      const connection = await openRaw(context, address.url);
      connection.send(head + body);
      await readAdded(connection, name, seen);
      connection.end();
    } catch (error) {
      if (!seen.isTold || !isRefusal(error)) throw error;
      seen.refused += 1;
      return;
    }
  }
}

/** The system refuses, or resets what the service has not taken yet; whoever takes a connection and closes it does not. */
function isRefusal(error: unknown): boolean {
  const { code, message, cause } = error as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED' || code === 'ECONNRESET') return true;
  const isReset = (cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNRESET';
  return isReset && message === 'the connection ended after ""';
}

const partBytes = 8;
const partPauseMs = 200;

/** Sends an animal in parts of 8 bytes, five a second; `begun` settles when the service has its head. */
export async function addSlowly(
  context: TortureContext,
  address: Address,
  name: string,
  seen: Seen,
  begun: () => void,
) {
  const connection = await openRaw(context, address.url);
  const { head, body } = formatAdd(address, name);
  connection.send(head.replace('\r\n\r\n', '\r\nexpect: 100-continue\r\n\r\n'));
  await connection.read();
  begun();
  for (let sent = 0; sent < body.length; sent += partBytes) {
    connection.send(body.slice(sent, sent + partBytes));
    await pause(partPauseMs);
  }
  await readAdded(connection, name, seen);
}

/** Begins to send an animal and never goes on; `begun` settles when the service has its head. */
export async function stall(context: TortureContext, address: Address, begun: () => void) {
  const connection = await openRaw(context, address.url);
  connection.send(formatAdd(address, 'never').head.replace('\r\n\r\n', '\r\nexpect: 100-continue\r\n\r\n'));
  await connection.read();
  begun();
  await connection.readAll().catch(() => undefined);
}

/** Asks once and then keeps its connection open without a word. Throws where it is not closed in the end. */
export async function idle(context: TortureContext, { url, key }: Address, begun: () => void) {
  const connection = await openRaw(context, url);
  connection.send(`GET /v1/pets HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\n\r\n`);
  await connection.read();
  begun();
  const more = await connection.readAll();
  if (more.length > 0) throw new Error('an idle connection was sent something');
}
