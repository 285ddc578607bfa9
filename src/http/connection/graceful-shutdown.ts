import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** How long a client with an open connection may still send a request before the connection counts as idle. */
export const lastCallMs = 500;
const checkMs = 20;

/**
 * Shuts a server down gracefully: it accepts no more connections and closes each connection once it is idle. After
 * `drainMs` it cuts the rest. From now on the caller must send `Connection: close` with every answer.
 *
 * Node's own `close` closes only the connections that are idle at that moment, and then waits until the other clients
 * leave.
 */
export async function closeGracefully(server: Server, drainMs: number): Promise<void> {
  const closed = once(server, 'close');
  NetServer.prototype.close.call(server);
  const cutting = globalThis.setTimeout(() => server.closeAllConnections(), drainMs);
  await Promise.race([closed, setTimeout(lastCallMs, undefined, { ref: false })]);
  // An immediate runs after the event loop has read what arrived, so no request that is here is cut off as idle.
  const checking = setInterval(() => setImmediate(() => server.closeIdleConnections()), checkMs);
  await closed;
  clearInterval(checking);
  clearTimeout(cutting);
}
