import type { Body, Call, Part } from './call.ts';

/** The state of a lane that determines the text of a call. */
export interface Memory {
  /** Returns the value of `Authorization`. Null omits the header. */
  authorize(call: Call): string | null;
  /** Returns the value of a header for this lane. */
  nameHeader(part: Part): string;
  /** The client's address as a proxy forwards it. */
  readonly forwardedFor: string;
}

/** Formats a call as text, with one character per byte. */
export function writeRequest(call: Call, memory: Memory): string {
  const { method, headers, body } = call;
  const authorization = memory.authorize(call);
  const lines = [
    `${method} ${writeTarget(call)} HTTP/1.1`,
    'Host: localhost',
    `X-Forwarded-For: ${memory.forwardedFor}`,
    ...(authorization === null ? [] : [`Authorization: ${authorization}`]),
    ...headers.map((part) => `${part.name}: ${memory.nameHeader(part)}`),
  ];
  return body === null ? `${lines.join('\r\n')}\r\n\r\n` : writeBody(lines, body);
}

function writeTarget(call: Call): string {
  const { place, query, link } = call;
  if (link !== undefined) return `/v1/pets?${link}`;
  const path = writePath(place);
  const pairs = query.map(({ name, text }) => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`);
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

function writePath(place: Call['place']): string {
  if (place.kind === 'collection') return '/v1/pets';
  if (place.kind === 'made') return `/v1/pets/${place.id}`;
  return place.kind === 'id' ? `/v1/pets/${encodeURIComponent(place.text)}` : `/v1${place.text}`;
}

function writeBody(lines: readonly string[], { text, blanks, headers, chunkBytes }: Body): string {
  const bytes = Buffer.from(text).toString('latin1') + ' '.repeat(blanks);
  const own = headers.map((part) => `${part.name}: ${part.text}`);
  const framing = chunkBytes === null ? `Content-Length: ${bytes.length}` : 'Transfer-Encoding: chunked';
  const head = `${[...lines, ...own, framing].join('\r\n')}\r\n\r\n`;
  return head + (chunkBytes === null ? bytes : writeChunks(bytes, chunkBytes));
}

function writeChunks(bytes: string, chunkBytes: number): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    const chunk = bytes.slice(start, start + chunkBytes);
    text += `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
  }
  return `${text}0\r\n\r\n`;
}
