import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** How long clients that keep a connection open may send one more request before it counts as idle. */
export const lastCallMs = 500;
const lookMs = 20;

/**
 * Closes a server without cutting a request: no more connections are accepted, and a connection is closed once it is
 * idle; the rest is cut after `drainMs`. The caller sees to it that every answer from now on closes its connection.
 * (Node's own `close` closes the connections that are idle at one moment, and waits for the others until their clients
 * leave.)
 */
export async function closeGracefully(server: Server, drainMs: number): Promise<void> {
  const closed = once(server, 'close');
  NetServer.prototype.close.call(server);
  const cutting = globalThis.setTimeout(() => server.closeAllConnections(), drainMs);
  await Promise.race([closed, setTimeout(lastCallMs, undefined, { ref: false })]);
  const looking = setInterval(() => server.closeIdleConnections(), lookMs);
  await closed;
  clearInterval(looking);
  clearTimeout(cutting);
}
