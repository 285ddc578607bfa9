import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { ownHeaders, type Request } from './exchange.ts';
import type { Load, Seen } from './wrk.ts';

const endOfHead = Buffer.from('\r\n\r\n');
const bufferBytes = 16_384;

/** Loads a server with HEAD requests. Throws if an answer is not 200 or a connection breaks. */
export async function sendHeads(origin: string, load: Load, seconds: number): Promise<Seen> {
  const { hostname, port, host } = new URL(origin);
  const texts = load.requests.map((request) => format(request, load, host));
  const waitsMs: number[] = [];
  const sockets: Socket[] = [];
  let place = load.skipped ?? 0;
  const startedMs = performance.now();
  const endsAtMs = startedMs + seconds * 1_000;

  async function converse(): Promise<void> {
    const buffer = Buffer.allocUnsafe(bufferBytes);
    let held = 0;
    let sentMs = 0;
    let isDone = false;
    const send = () => {
      sentMs = performance.now();
      socket.write(texts[place++ % texts.length] ?? '', 'latin1');
    };
    const read = (bytes: number) => {
      held += bytes;
      if (buffer.compare(endOfHead, 0, 4, held - 4, held) !== 0) return true;
      if (buffer.toString('latin1', 9, 12) !== '200')
        socket.destroy(new Error(buffer.toString('latin1', 0, held)));
      held = 0;
      const nowMs = performance.now();
      waitsMs.push(nowMs - sentMs);
      isDone = nowMs >= endsAtMs;
      if (isDone) socket.destroy();
      else send();
      return true;
    };
    const socket = connect({
      port: Number(port),
      host: hostname,
      noDelay: true,
      onread: { buffer: () => buffer.subarray(held), callback: read },
    });
    sockets.push(socket);
    socket.once('connect', send);
    await once(socket, 'close');
    if (!isDone) throw new Error('the server closed the connection');
  }

  try {
    await Promise.all(Array.from({ length: load.connections }, converse));
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  const tookSeconds = (performance.now() - startedMs) / 1_000;
  waitsMs.sort((a, b) => a - b);
  return {
    requests: waitsMs.length,
    seconds: tookSeconds,
    requestsPerSecond: waitsMs.length / tookSeconds,
    p99Ms: waitsMs[Math.floor(waitsMs.length * 0.99)] ?? Number.NaN,
  };
}

function format(request: Request, { headers }: Load, host: string): string {
  const lines = Object.entries({ ...headers, ...ownHeaders(request), host }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${request.method} ${request.path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
