import { once } from 'node:events';
import { Server } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Connections } from './connections.ts';

/** How long clients that keep a connection open may send one more request before it is taken for idle. */
export const lastCallMs = 500;
const lookMs = 20;

/**
 * Closes without cutting a request: no more connections are taken, every answer asks its client to let go, and a
 * connection is closed once it is idle. (Node closes those that are idle at one moment, and waits for the others
 * until their clients leave.)
 */
export function closeGently(server: FastifyInstance, connections: Connections): void {
  server.addHook('preClose', async () => {
    const closed = once(server.server, 'close');
    Server.prototype.close.call(server.server);
    connections.readAll();
    await Promise.race([closed, setTimeout(lastCallMs)]);
    const looking = setInterval(() => server.server.closeIdleConnections(), lookMs);
    server.server.once('close', () => clearInterval(looking));
  });
}
