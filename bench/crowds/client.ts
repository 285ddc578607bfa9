/**
 * A process of clients. It gets an Order as its first message, and `stop` as its second one. It sends `ready`, and at
 * the end what its clients saw.
 */
import { runAskers } from './askers.ts';
import type { Order } from './clients.ts';
import { runConnects } from './connects.ts';
import { runFollowers } from './followers.ts';
import { runGoodClient } from './good-client.ts';
import { runSlowBodies } from './slow-bodies.ts';

export interface Run {
  /** To be called when all clients are there. */
  onReady(): void;
  /** Resolves when the clients shall end. */
  readonly stopped: Promise<void>;
}

function run(order: Order, controls: Run): Promise<unknown> {
  switch (order.kind) {
    case 'askers':
      return runAskers(order, controls);
    case 'connects':
      return runConnects(order, controls);
    case 'followers':
      return runFollowers(order, controls);
    case 'good-client':
      return runGoodClient(order, controls);
    case 'slow-bodies':
      return runSlowBodies(order, controls);
  }
}

process.once('disconnect', () => process.exit());
process.once('message', async (order: Order) => {
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  process.once('message', () => resolve());
  const seen = await run(order, { onReady: () => process.send?.('ready'), stopped });
  process.send?.(seen, () => process.exit());
});
