import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Ending } from '../support/service.ts';

/** A relay in front of a service that can cut off answers. */
export interface CuttingRelay {
  /** The base address of the service through the relay. */
  readonly url: string;
  /** Cuts off each of the next `answers` answers after `afterBytes` bytes. The service has handled these requests. */
  cut(answers: number, afterBytes: number): void;
}

export async function startCuttingRelay(test: Ending, url: string): Promise<CuttingRelay> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let left = 0;
  let passed = 0;

  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  }

  const server = createServer((incoming) => {
    const outgoing = connect(Number(target.port), target.hostname);
    keep(incoming);
    keep(outgoing);
    incoming.pipe(outgoing);
    outgoing.on('data', (chunk: Buffer) => {
      if (left === 0) return incoming.write(chunk);
      left -= 1;
      outgoing.destroy();
      return incoming.end(chunk.subarray(0, passed));
    });
    incoming.on('close', () => outgoing.destroy());
    outgoing.on('end', () => incoming.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const own = new URL(url);
  own.port = String((server.address() as AddressInfo).port);
  return {
    url: own.href,
    cut(answers, afterBytes) {
      left = answers;
      passed = afterBytes;
    },
  };
}
