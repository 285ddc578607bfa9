import { setTimeout as pause } from 'node:timers/promises';
import { lastCallMs } from '../../src/http/connection/graceful-shutdown.ts';
import { openRaw, type RawConnection } from '../../test/support/raw-http.ts';
import type { TortureContext } from '../scenario.ts';

/** What clients observe while the service stops. */
export interface Seen {
  /** Names of animals answered with 201, by id. */
  readonly answered: Map<bigint, string>;
  /** Number of new connections after SIGTERM that were refused, or reset before a byte of an answer. */
  refused: number;
  /** True once SIGTERM was sent. Before SIGTERM, no connection may be refused. */
  isStopping: boolean;
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

/** Reads the answer to an add. Returns true if the connection may be used again. */
async function readAdded(connection: RawConnection, name: string, seen: Seen): Promise<boolean> {
  const { status, headers, body } = await connection.read();
  if (status !== 201) throw new Error(`${name} was answered with ${status} ${body}`);
  seen.answered.set(BigInt(/"id":(\d+)/.exec(body)?.[1] ?? 0), name);
  return headers.get('connection') !== 'close';
}

/**
 * Adds animals one after the other on one connection until an answer closes it. Calls `onFirst` after the first answer,
 * because that answer proves that the service has accepted the connection. Throws if an answer is cut off.
 *
 * The service may close the connection without an answer only if both are true:
 * - SIGTERM was sent.
 * - This client sent its next request more than `lastCallMs` after the previous one, so the connection was idle.
 */
export async function addUntilClosed(
  context: TortureContext,
  address: Address,
  prefix: string,
  seen: Seen,
  onFirst: () => void,
) {
  const connection = await openRaw(context, address.url);
  let sentMs = performance.now();
  for (let count = 0, isOpen = true; isOpen; count += 1) {
    const name = `${prefix} ${count}`;
    const { head, body } = formatAdd(address, name);
    connection.send(head + body);
    const isLate = performance.now() - sentMs > lastCallMs;
    sentMs = performance.now();
    try {
      isOpen = await readAdded(connection, name, seen);
    } catch (error) {
      if (!(seen.isStopping && isLate && isUnanswered(error))) throw error;
      return;
    }
    if (count === 0) onFirst();
  }
  connection.end();
}

/**
 * Opens connections one after the other and adds one animal on each, until a connection is refused. Throws if:
 * - a connection is refused before SIGTERM
 * - an answer is cut off
 * - an accepted connection is closed without an answer although the request was sent within `lastCallMs`
 */
export async function addUntilRefused(context: TortureContext, address: Address, prefix: string, seen: Seen) {
  for (let count = 0; ; count += 1) {
    const name = `${prefix} ${count}`;
    const { head, body } = formatAdd(address, name);
    const openedMs = performance.now();
    let isLate = false;
    try {
      const connection = await openRaw(context, address.url);
      connection.send(head + body);
      isLate = performance.now() - openedMs > lastCallMs;
      await readAdded(connection, name, seen);
      connection.end();
    } catch (error) {
      const isAllowed = isRefusal(error) || (isLate && isUnanswered(error));
      if (!(seen.isStopping && isAllowed)) throw error;
      seen.refused += 1;
      return;
    }
  }
}

/**
 * True if the system refused the connection, or reset a connection that the service had not accepted. An accepted
 * connection that is closed is not a refusal.
 */
function isRefusal(error: unknown): boolean {
  const { code, cause } = error as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED' || code === 'ECONNRESET') return true;
  const isReset = (cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNRESET';
  return isReset && isUnanswered(error);
}

/** True if the connection ended before a byte of the answer came. */
function isUnanswered(error: unknown): boolean {
  return (error as Error).message === 'the connection ended after ""';
}

const partBytes = 8;
const partPauseMs = 200;

/** Sends an animal in parts of 8 bytes, five a second. Calls `begun` when the service has received the head. */
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

/** Sends the head of an add and never its body. Calls `begun` when the service has received the head. */
export async function stall(context: TortureContext, address: Address, begun: () => void) {
  const connection = await openRaw(context, address.url);
  connection.send(formatAdd(address, 'never').head.replace('\r\n\r\n', '\r\nexpect: 100-continue\r\n\r\n'));
  await connection.read();
  begun();
  await connection.readAll().catch(() => undefined);
}

/** Sends one request and keeps the connection idle until the service closes it. Throws if the service sends more. */
export async function idle(context: TortureContext, { url, key }: Address, begun: () => void) {
  const connection = await openRaw(context, url);
  connection.send(`GET /v1/pets HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\n\r\n`);
  await connection.read();
  begun();
  const more = await connection.readAll();
  if (more.length > 0) throw new Error('the service sent bytes on an idle connection');
}
