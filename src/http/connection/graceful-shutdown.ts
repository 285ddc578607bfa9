import { once } from 'node:events';
import type { Server } from 'node:http';
import { setImmediate as endOfTurn, setTimeout } from 'node:timers/promises';

/** Milliseconds for which idle connections stay open during a shutdown, so that clients can send a last request. */
export const lastCallMs = 500;
const checkMs = 20;

/** Accepts no more connections; closes idle ones, and all after `drainMs`. The caller must send `Connection: close`. */
export async function closeGracefully(server: Server, drainMs: number): Promise<void> {
  const closeIdle = server.closeIdleConnections.bind(server);
  // `close` would also close the connections that are idle at this moment. A client may just have sent a request.
  server.closeIdleConnections = () => undefined;
  const closed = once(server, 'close');
  await untilNobodyConnects(server);
  server.close();
  const cutting = globalThis.setTimeout(() => server.closeAllConnections(), drainMs);
  await Promise.race([closed, setTimeout(lastCallMs, undefined, { ref: false })]);
  // An immediate runs after the sockets are read, so a connection whose request has arrived is not closed as idle.
  const checking = setInterval(() => setImmediate(closeIdle), checkMs);
  await closed;
  clearInterval(checking);
  clearTimeout(cutting);
}

/**
 * Waits, at most for `lastCallMs`, for a turn of the event loop in which nobody connects. A closing server resets the
 * connections that it has not accepted yet, and their clients cannot tell whether a request was received.
 */
async function untilNobodyConnects(server: Server): Promise<void> {
  let hasConnected = false;
  const note = () => {
    hasConnected = true;
  };
  server.on('connection', note);
  const endMs = performance.now() + lastCallMs;
  do {
    hasConnected = false;
    await endOfTurn();
  } while (hasConnected && performance.now() < endMs);
  server.off('connection', note);
}
