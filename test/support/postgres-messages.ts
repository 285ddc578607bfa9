import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** A proxy in front of a PostgreSQL server that counts round trips. */
export interface CountedWay {
  /** The address of the proxy. */
  readonly url: string;
  /** Returns the number of round trips: how often a client waited for an answer of the server. */
  countRoundTrips(): number;
}

/** Types of messages after which a client waits: Query, and Sync, which follows Bind and Execute. */
const askingTypes = new Set(['Q', 'S'].map((type) => type.charCodeAt(0)));

/** Length of the head of a message. The first message of a connection has no type byte. */
const headBytes = { first: 4, later: 5 };

/** Starts a proxy in front of the server at `url`. Stops it after the test. */
export async function startCounting(test: Pick<TestContext, 'after'>, url: string): Promise<CountedWay> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let roundTrips = 0;

  const server = createServer((incoming) => {
    const outgoing = connect(Number(target.port), target.hostname);
    const readMessages = createReader((type) => {
      if (askingTypes.has(type)) roundTrips += 1;
    });
    incoming.on('data', readMessages);
    incoming.pipe(outgoing).pipe(incoming);
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  target.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { href } = target;
  target.href = url;
  return { url: href, countRoundTrips: () => roundTrips };
}

/** Returns a parser that calls `onMessage` with the type of each message in a stream. The first message has type 0. */
function createReader(onMessage: (type: number) => void): (piece: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = true;
  return (piece) => {
    rest = Buffer.concat([rest, piece]);
    for (;;) {
      const head = isFirst ? headBytes.first : headBytes.later;
      if (rest.length < head) return;
      const end = head - 4 + rest.readUInt32BE(head - 4);
      if (rest.length < end) return;
      onMessage(isFirst ? 0 : rest.readUInt8());
      rest = rest.subarray(end);
      isFirst = false;
    }
  };
}
