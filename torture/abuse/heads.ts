import assert from 'node:assert/strict';
import { connect, type TcpSocketConnectOpts } from 'node:net';
import { createRandom } from '../random.ts';
import { loopbackAddress } from '../target.ts';
import { abuse, share } from './abuse.ts';

const seconds = 20;

/** Requests whose head, chunk extension or trailers take about 1 MB. */
const shapes: readonly (readonly [name: string, text: string])[] = [
  ['a header of 1 MB', `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(2 ** 20)}\r\n\r\n`],
  ['a target of 1 MB', `GET /${'a'.repeat(2 ** 20)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['a query of 1 MB', `GET /v1/pets?${'a=b&'.repeat(2 ** 18)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['100,000 headers', `GET /v1/pets HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(100_000)}\r\n`],
  [
    '100,000 names',
    `GET /v1/pets HTTP/1.1\r\n${Array.from({ length: 100_000 }, (_, n) => `X${n}: y\r\n`).join('')}\r\n`,
  ],
  [
    'a key of 1 MB',
    `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${'a'.repeat(2 ** 20)}\r\n\r\n`,
  ],
  [
    'a chunk extension of 1 MB',
    `POST /v1/pets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;${'a'.repeat(2 ** 20)}\r\n`,
  ],
  [
    'trailers of 1 MB',
    `POST /v1/pets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${'X: y\r\n'.repeat(180_000)}\r\n`,
  ],
];

export const hugeHeads = abuse({
  name: 'huge-heads',
  title: 'Heads, addresses and chunk extensions of a megabyte',
  minutes: 2,
  growthMibMax: 400,
  async misbehave({ seed, scale }, { host, port }) {
    const random = createRandom(seed);
    const endMs = performance.now() + seconds * 1_000 * scale;
    const statuses = new Map<string, number>();
    let sent = 0;

    async function send(): Promise<void> {
      while (performance.now() < endMs) {
        sent += 1;
        const [, text] = random.pick(shapes);
        const status = await exchange({ host, port, localAddress: loopbackAddress(sent) }, text);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }

    await Promise.all(Array.from({ length: share(50, scale) }, send));
    // A client that is still sending may receive the reset before it reads the answer.
    const expected = ['401', '413', '429', '431', 'reset'];
    assert.deepEqual(
      [...statuses.keys()].filter((status) => !expected.includes(status)),
      [],
    );
    const seen = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
    return {
      done: `${sent} requests with a megabyte of headers, address, trailers or chunk extensions`,
      seen,
      well: 'at once',
    };
  },
});

function exchange(address: TcpSocketConnectOpts, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(address);
    let received = '';
    socket.setEncoding('latin1').on('data', (part: string) => {
      received += part;
    });
    socket.on('error', () => {});
    socket.once('close', () => resolve(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 'reset'));
    socket.write(text);
  });
}
