import { once } from 'node:events';
import type { Server } from 'node:http';
import { setImmediate as endOfTurn, setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Connections } from './connections.ts';

/** Milliseconds for which idle connections stay open during a shutdown, so that clients can send a last request. */
export const lastCallMs = 500;
const checkMs = 20;

/**
 * Accepts no more connections; closes idle ones, and all after `drainMs`. The caller must send `Connection: close`.
 *
 * A server that stops listening resets the connections that the system has accepted for it, and their clients cannot
 * tell whether a request was received. So it first takes all of them. It holds the answers to their requests until it
 * has stopped listening: a client that waits for an answer does not connect again.
 */
export async function closeGracefully(
  server: Server,
  { holdNew, releaseNew }: Pick<Connections, 'holdNew' | 'releaseNew'>,
  drainMs: number,
): Promise<void> {
  const closed = once(server, 'close');
  const cutAtMs = performance.now() + drainMs;
  const waitMsMax = Math.min(lastCallMs, drainMs);
  holdNew();
  await untilLastCall(server, waitMsMax);
  await untilNobodyConnects(server, waitMsMax);
  // Also closes idle connections, but none whose request had arrived when the sockets were read in this turn.
  server.close();
  const restMs = Math.max(0, cutAtMs - performance.now());
  const cutting = globalThis.setTimeout(() => server.closeAllConnections(), restMs);
  releaseNew();
  // An immediate runs after the sockets are read, so a connection whose request has arrived is not closed as idle.
  const checking = setInterval(() => setImmediate(() => server.closeIdleConnections()), checkMs);
  await closed;
  clearInterval(checking);
  clearTimeout(cutting);
}

/** Waits, at most for `waitMsMax`, until no connection is open. */
async function untilLastCall(server: Server, waitMsMax: number): Promise<void> {
  const countOpen = promisify(server.getConnections.bind(server));
  const endMs = performance.now() + waitMsMax;
  while ((await countOpen()) > 0 && performance.now() < endMs) await setTimeout(checkMs);
}

/** Waits, at most for `waitMsMax`, for a turn of the event loop in which nobody connects. A turn accepts one connection. */
async function untilNobodyConnects(server: Server, waitMsMax: number): Promise<void> {
  let hasConnected = false;
  const note = () => {
    hasConnected = true;
  };
  server.on('connection', note);
  const endMs = performance.now() + waitMsMax;
  do {
    hasConnected = false;
    await endOfTurn();
  } while (hasConnected && performance.now() < endMs);
  server.off('connection', note);
}
