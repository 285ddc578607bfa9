import { formatKey, randomLength } from '../../src/accounts/api-key.ts';
import { base62 } from '../../src/random-text.ts';
import type { Random } from '../random.ts';

const mib = 'a'.repeat(2 ** 20);
const get = 'GET /v1/pets HTTP/1.1\r\nHost: a\r\n';
const postChunks = 'POST /v1/pets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
const names = Array.from({ length: 100_000 }, (_, n) => `X${n}: y\r\n`).join('');

/** Requests whose head, chunk extension or trailers take about 1 MB. */
const huge = [
  `${get}X: ${mib}\r\n\r\n`,
  `GET /${mib} HTTP/1.1\r\nHost: a\r\n\r\n`,
  `GET /v1/pets?${'a=b&'.repeat(2 ** 18)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  `${get}${'X: y\r\n'.repeat(100_000)}\r\n`,
  `${get}${names}\r\n`,
  `${get}Authorization: Bearer ${mib}\r\n\r\n`,
  `${postChunks}1;${mib}\r\n`,
  `${postChunks}0\r\n${'X: y\r\n'.repeat(180_000)}\r\n`,
];

/** Every second key has a valid checksum, so that the service looks it up in the store. */
function writeWrongKey(random: Random): string {
  const draw = () => base62.charAt(random.between(0, base62.length - 1));
  const text = Array.from({ length: randomLength }, draw).join('');
  const key = random.next() < 0.5 ? formatKey('live', text) : `as_live_${text.slice(0, 28)}`;
  const address = `10.0.${random.between(0, 255)}.${random.between(0, 255)}`;
  return `${get}X-Forwarded-For: ${address}\r\nAuthorization: Bearer ${key}\r\n\r\n`;
}

/** Write one request of a flood. */
export const floodTexts = {
  keyless: () => `${get}\r\n`,
  huge: (random: Random) => random.pick(huge),
  wrongKey: writeWrongKey,
};

export type FloodKind = keyof typeof floodTexts;
