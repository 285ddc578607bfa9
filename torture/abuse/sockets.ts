import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TortureContext } from '../scenario.ts';
import { loopbackAddress, type Target } from '../target.ts';

/** Many connections of one bad client, from as many addresses as it takes. */
export interface Crowd {
  readonly sockets: readonly Socket[];
  /** How many the service, or we, have closed. */
  countClosed(): number;
  /** What has come from the service on all of them together, as one text a connection. */
  readonly received: readonly string[];
  /** Settles once so many are closed; throws once the time is up. */
  untilClosed(count: number, withinMs: number): Promise<void>;
  destroy(): void;
}

const connectionsAtOnce = 500;
/** Connections that one of our addresses makes, fewer than there are ports. */
const connectionsPerAddress = 5_000;
/** Of what is received, so much is kept. */
const keptMax = 2_000;

/** Opens them, paused where nothing is to be read. */
export async function openCrowd(
  context: Pick<TortureContext, 'after'>,
  { host, port }: Target,
  count: number,
  { isReading = true } = {},
): Promise<Crowd> {
  const sockets: Socket[] = [];
  const received: string[] = [];
  let closed = 0;
  const onClosed = new Set<() => void>();

  function watch(socket: Socket, index: number): void {
    received[index] = '';
    socket.on('error', () => {});
    socket.once('close', () => {
      closed += 1;
      for (const told of onClosed) told();
    });
    if (!isReading) return;
    socket.setEncoding('latin1').on('data', (text: string) => {
      if ((received[index]?.length ?? 0) < keptMax) received[index] += text;
    });
  }

  const destroy = () => {
    for (const socket of sockets) socket.destroy();
  };
  context.after(destroy);
  while (sockets.length < count) {
    const wanted = Math.min(connectionsAtOnce, count - sockets.length);
    const opening = Array.from({ length: wanted }, () => {
      const localAddress = loopbackAddress(Math.floor(sockets.length / connectionsPerAddress));
      const socket = connect({ host, port, localAddress, noDelay: true });
      if (!isReading) socket.pause();
      watch(socket, sockets.length);
      sockets.push(socket);
      return once(socket, 'connect');
    });
    await Promise.all(opening);
  }

  return {
    sockets,
    received,
    destroy,
    countClosed: () => closed,
    async untilClosed(wanted, withinMs) {
      const { promise: enough, resolve, reject } = Promise.withResolvers<void>();
      const look = () => {
        if (closed >= wanted) resolve();
      };
      const impatience = setTimeout(
        () => reject(new Error(`${closed} of ${wanted} connections closed within ${withinMs} ms`)),
        withinMs,
      );
      onClosed.add(look);
      look();
      await enough.finally(() => {
        clearTimeout(impatience);
        onClosed.delete(look);
      });
    },
  };
}
