import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { until } from '../../test/support/processes.ts';
import { Skipped, type TortureContext } from '../scenario.ts';
import type { Target } from '../target.ts';

/** Many connections of one misbehaving client. They come from several addresses, because each has limited ports. */
export interface Crowd {
  readonly sockets: readonly Socket[];
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

  function watch(socket: Socket, index: number): void {
    received[index] = '';
    socket.on('error', () => {});
    socket.once('close', () => {
      closed += 1;
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
    untilClosed: (wanted, withinMs) =>
      until(
        async () => closed,
        (count) => count >= wanted,
        withinMs,
      ).then(() => undefined),
  };
}

/** Returns a loopback address for a number below 15 million. Each number has its own address, never 127.0.0.1. */
export function loopbackAddress(number: number): string {
  return `127.${1 + (Math.floor(number / 62_500) % 250)}.${Math.floor(number / 250) % 250}.${1 + (number % 250)}`;
}

/** Throws Skipped if this process, whose limit the service inherits, may not open enough files for the connections. */
export function requireDescriptors(count: number): void {
  const [, limit] = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  const needed = count + 100;
  if (Number(limit) < needed) throw new Skipped(`needs ${needed} open files, has ${limit} (ulimit -n)`);
}
