import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TortureContext } from '../scenario.ts';
import { loopbackAddress, type Target } from '../target.ts';

/** Many connections of one misbehaving client. They come from several addresses, because each has limited ports. */
export interface Crowd {
  readonly sockets: readonly Socket[];
  /** Returns the number of closed connections, whether the service or this client closed them. */
  countClosed(): number;
  /** The received text of each connection. */
  readonly received: readonly string[];
  /** Resolves when `count` connections are closed. Rejects after `withinMs`. */
  untilClosed(count: number, withinMs: number): Promise<void>;
  destroy(): void;
}

const connectionsAtOnce = 500;
/** Number of connections from one local address: fewer than the ports of the address. */
const connectionsPerAddress = 5_000;
/** Maximum number of received characters that are kept for each connection. */
const keptMax = 2_000;

/** Opens connections. If `isReading` is false, they are paused and read nothing. */
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
      for (const listener of onClosed) listener();
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
      const check = () => {
        if (closed >= wanted) resolve();
      };
      const impatience = setTimeout(
        () => reject(new Error(`${closed} of ${wanted} connections closed within ${withinMs} ms`)),
        withinMs,
      );
      onClosed.add(check);
      check();
      await enough.finally(() => {
        clearTimeout(impatience);
        onClosed.delete(check);
      });
    },
  };
}
