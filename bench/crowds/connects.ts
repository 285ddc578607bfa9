import { connect } from 'node:net';
import type { Run } from './client.ts';
import { toAddress } from './sockets.ts';

/** Connections that are opened at a rate, send nothing and are closed at once. */
export interface ConnectsOrder {
  readonly kind: 'connects';
  readonly origin: string;
  readonly perSecond: number;
}

export interface ConnectsSeen {
  readonly connected: number;
}

const everyMs = 10;

export async function runConnects(order: ConnectsOrder, { onReady, stopped }: Run): Promise<ConnectsSeen> {
  const address = toAddress(order.origin);
  const startedMs = performance.now();
  let opened = 0;
  let connected = 0;

  function open(): void {
    opened += 1;
    const socket = connect(address, () => {
      connected += 1;
      socket.destroy();
    });
    socket.on('error', () => {});
  }

  const opening = setInterval(() => {
    const due = ((performance.now() - startedMs) * order.perSecond) / 1_000;
    while (opened < due) open();
  }, everyMs);
  onReady();
  await stopped;
  clearInterval(opening);
  return { connected };
}
