import { once } from 'node:events';
import type { Server } from 'node:http';
import { setTimeout } from 'node:timers/promises';

/** Milliseconds for which idle connections stay open during a shutdown, so that clients can send a last request. */
export const lastCallMs = 500;
const checkMs = 20;

/**
 * Accepts no more connections and closes each connection once it is idle. After `drainMs`, closes all remaining
 * connections. During the shutdown, the caller must send `Connection: close` with every response.
 */
export async function closeGracefully(server: Server, drainMs: number): Promise<void> {
  const closeIdle = server.closeIdleConnections.bind(server);
  // `close` would also close the connections that are idle at this moment. A client may just have sent a request.
  server.closeIdleConnections = () => undefined;
  const closed = once(server, 'close');
  server.close();
  const cutting = globalThis.setTimeout(() => server.closeAllConnections(), drainMs);
  await Promise.race([closed, setTimeout(lastCallMs, undefined, { ref: false })]);
  // An immediate runs after the event loop has read from the sockets. So a connection whose request has already arrived
  // is not closed as idle.
  const checking = setInterval(() => setImmediate(closeIdle), checkMs);
  await closed;
  clearInterval(checking);
  clearTimeout(cutting);
}
