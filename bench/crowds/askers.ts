import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Asking, openAsker } from './asker.ts';
import type { Run } from './client.ts';
import { openAll, toAddress } from './sockets.ts';
import { type CrowdSeen, createTally } from './tally.ts';
import { createTexts } from './texts.ts';

/** A crowd whose connections send their next request as soon as they have the answer to the one before. */
export interface AskersOrder {
  readonly kind: 'askers';
  readonly origin: string;
  readonly connections: number;
  /** The requests, which are sent in turn. 'strangers' sends requests with unknown keys. */
  readonly texts: readonly string[] | 'strangers';
  /** True to replace no connection that is closed, and to end when none is left. */
  readonly isUntilClosed?: boolean;
}

/** A connection that was closed is replaced after this time, so that a server that has ended costs no time. */
const replaceMs = 10;
/** The longest wait until each connection has got an answer. A server may starve some of them. */
const answeredMsMax = 5_000;
const lookMs = 10;

export async function runAskers(order: AskersOrder, { onReady, stopped }: Run): Promise<CrowdSeen> {
  const { origin, connections, texts, isUntilClosed = false } = order;
  const { promise: allClosed, resolve: endAll } = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  const tally = createTally();
  let isOver = false;
  const asking: Asking = {
    address: toAddress(origin),
    tally,
    nextText: createTexts(texts),
    isOver: () => isOver,
  };

  function open(): Socket {
    const socket = openAsker(asking);
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      if (!isUntilClosed && !isOver) setTimeout(open, replaceMs);
      if (sockets.size === 0) endAll();
    });
    return socket;
  }

  await openAll(connections, open);
  const deadlineMs = performance.now() + answeredMsMax;
  const isWaiting = () => sockets.size > 0 && !tally.hasAnsweredAll() && performance.now() < deadlineMs;
  while (isWaiting()) await pause(lookMs);
  tally.begin();
  onReady();
  await (isUntilClosed ? Promise.race([allClosed, stopped]) : stopped);
  isOver = true;
  const seen = tally.read(sockets.size);
  for (const socket of sockets) socket.destroy();
  return seen;
}
