import { setTimeout as pause } from 'node:timers/promises';
import { lastCallMs } from '../../src/http/connection/graceful-shutdown.ts';
import { openRaw, type RawConnection } from '../../test/support/raw-http.ts';
import { formatAdd, readId } from '../load.ts';
import type { TortureContext } from '../scenario.ts';

/** What clients observe while the service stops. */
export interface Seen {
  /** Names of animals answered with 201, by id. */
  readonly answered: Map<bigint, string>;
  /** True once SIGTERM was sent. Before SIGTERM, no connection may be refused. */
  isStopping: boolean;
}

export interface Address {
  readonly url: string;
  readonly key: string;
}

/** Reads the answer to an add. Returns true if the connection may be used again. */
async function readAdded(connection: RawConnection, name: string, seen: Seen): Promise<boolean> {
  const answer = await connection.read();
  if (answer.status !== 201) throw new Error(`${name} was answered with ${answer.status} ${answer.body}`);
  seen.answered.set(readId(answer), name);
  return answer.headers.get('connection') !== 'close';
}

/**
 * Adds animals one after the other until an answer closes the connection. A client that `isFresh` opens a connection
 * for each, until one is refused. Calls `onFirst` after the first answer, which proves that the service has accepted
 * the connection. Throws if an answer is cut off.
 *
 * The service may close a connection without an answer only if both are true:
 * - SIGTERM was sent.
 * - The request was sent more than `lastCallMs` after the previous one or after the connection was opened.
 */
export async function addUntilClosed(
  context: TortureContext,
  address: Address,
  prefix: string,
  seen: Seen,
  onFirst: () => void,
  isFresh = false,
) {
  let connection: RawConnection | undefined;
  let sinceMs = performance.now();
  for (let count = 0, isOpen = true; isOpen; count += 1) {
    const name = `${prefix} ${count}`;
    let isLate = false;
    try {
      if (isFresh) sinceMs = performance.now();
      if (isFresh || connection === undefined) connection = await openRaw(context, address.url);
      connection.send(formatAdd(address.key, name));
      isLate = performance.now() - sinceMs > lastCallMs;
      sinceMs = performance.now();
      isOpen = (await readAdded(connection, name, seen)) || isFresh;
      if (isFresh) connection.end();
    } catch (error) {
      const isAllowed = (isFresh && isRefusal(error)) || (isLate && isUnanswered(error));
      if (!(seen.isStopping && isAllowed)) throw error;
      return;
    }
    if (count === 0) onFirst();
  }
  connection?.end();
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

/**
 * Sends an animal in parts of 8 bytes, five a second, or only its head if `isStalled`. Calls `begun` when the service
 * has received the head.
 */
export async function addSlowly(
  context: TortureContext,
  address: Address,
  name: string,
  seen: Seen,
  begun: () => void,
  isStalled = false,
) {
  const connection = await openRaw(context, address.url);
  const [head, body = ''] = formatAdd(address.key, name, 'expect: 100-continue\r\n').split('\r\n\r\n');
  connection.send(`${head}\r\n\r\n`);
  await connection.read();
  begun();
  if (isStalled) return await connection.readAll().catch(() => undefined);
  for (let sent = 0; sent < body.length; sent += partBytes) {
    connection.send(body.slice(sent, sent + partBytes));
    await pause(partPauseMs);
  }
  return await readAdded(connection, name, seen);
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
