import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { Ending } from './service.ts';

/** A TCP relay in front of a server. A test can cut, slow down, silence and restore the relay. */
export type Relay = Awaited<ReturnType<typeof startRelay>>;

type Listener = (part: Buffer) => void;

const listenToNothing = () => () => undefined;

/**
 * Starts a relay. Cuts it after the test. Each connection gets a listener from `listenTo` for all bytes of the client, and
 * one from `listenToServer` for all bytes of the server.
 */
export async function startRelay(
  test: Ending,
  url: string,
  listenTo: () => Listener = listenToNothing,
  listenToServer: () => Listener = listenToNothing,
) {
  let target = new URL(url);
  const sockets = new Set<Socket>();
  let silent = false;
  let delayMs = 0;
  const broken = { answers: 0, bytes: 0 };

  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  }

  const server = createServer((incoming) => {
    keep(incoming);
    if (silent) return;
    const outgoing = connect(Number(target.port), target.hostname);
    keep(outgoing);
    const take = (part: Buffer) => {
      if (broken.answers === 0) return part;
      broken.answers -= 1;
      setImmediate(() => incoming.end(() => outgoing.destroy()));
      return part.subarray(0, broken.bytes);
    };
    incoming.on('data', listenTo());
    outgoing.on('data', listenToServer());
    incoming
      .pipe(outgoing)
      .pipe(createLag(() => delayMs, take))
      .pipe(incoming);
    incoming.on('close', () => outgoing.destroy());
    outgoing.on('close', () => incoming.destroy());
  });

  async function listen(port: number): Promise<number> {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  /** Closes every connection and refuses new ones. */
  async function cut(): Promise<void> {
    for (const socket of sockets) socket.resetAndDestroy();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  }

  const port = await listen(0);
  const address = new URL(url);
  address.host = `127.0.0.1:${port}`;
  test.after(cut);
  return {
    url: address.href,
    cut,
    /** Keeps every connection and accepts new ones, but transfers nothing. */
    silence(): void {
      silent = true;
      for (const socket of sockets) socket.unpipe();
    },
    /** Delays all later bytes from the server, on every connection. */
    delay(ms: number): void {
      delayMs = ms;
    },
    /** Relays new connections to another server. */
    redirect(other: string): void {
      target = new URL(other);
    },
    /**
     * Cuts off each of the next `answers` answers after `bytes` bytes, and closes its connection. The server has handled
     * these requests.
     */
    breakOff(answers: number, bytes: number): void {
      Object.assign(broken, { answers, bytes });
    },
    /** Accepts and transfers new connections again. Old connections do not recover. */
    async mend(): Promise<void> {
      silent = false;
      if (!server.listening) await listen(port);
    },
  };
}

/** Returns a stream that transfers what `take` returns of each part, in order, each after the delay at its arrival. */
function createLag(readDelayMs: () => number, take: (part: Buffer) => Buffer): Transform {
  let last = Promise.resolve();
  return new Transform({
    transform(part, _encoding, done) {
      const before = last;
      const over = pause(readDelayMs());
      last = (async () => {
        await Promise.all([before, over]);
        this.push(take(part));
      })();
      done();
    },
    flush(done) {
      void last.then(() => done());
    },
  });
}
