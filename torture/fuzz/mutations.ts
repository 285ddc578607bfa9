import fc, { type Arbitrary } from 'fast-check';

/** A change to the bytes of a request. `at` is the position as a share of the length of the request. */
type Mutation =
  | { readonly kind: 'replace' | 'insert'; readonly at: number; readonly text: string }
  | { readonly kind: 'cut' | 'repeat'; readonly at: number; readonly bytes: number }
  | { readonly kind: 'line'; readonly at: number; readonly text: string }
  | { readonly kind: 'bare LF' | 'truncate'; readonly at: number };

const place = fc.integer({ min: 0, max: 999 }).map((n) => n / 1_000);

/** Bytes that parsers are known to misread. */
const bytes = fc.oneof(
  fc.constantFrom(
    '\r',
    '\n',
    '\r\n',
    '\r\n\r\n',
    '\0',
    ' ',
    '\t',
    ':',
    ';',
    ',',
    '\x7f',
    '\x80',
    '\xff',
    '%',
    '"',
  ),
  fc.constantFrom(
    'HTTP/0.9',
    'HTTP/1.0',
    'HTTP/2.0',
    'http/1.1',
    ' HTTP/1.1',
    '0\r\n\r\n',
    'ffffffffffffffff',
  ),
  fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
);

const lines = fc.constantFrom(
  'Content-Length: 0',
  'Content-Length: 5',
  'Content-Length: 29, 29',
  'Content-Length: +5',
  'Content-Length: 0x5',
  'Content-Length: 5 5',
  'Content-Length : 5',
  ' Content-Length: 5',
  'Content-Length:\t5',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding:\x0bchunked',
  'Transfer-Encoding: xchunked',
  'TRANSFER_ENCODING: chunked',
  ' obs-fold',
  '\tobs-fold',
  'Host: other',
  'Host:',
  'Connection: close',
  'Connection: keep-alive, Content-Length',
  'Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
  'Upgrade: websocket',
  'Expect: 100-continue',
  'Expect: 200-ok',
  'Trailer: Content-Length',
  'Authorization: Bearer x',
  ':',
  ': x',
  'X',
  '\0: x',
);

const mutation: Arbitrary<Mutation> = fc.oneof(
  fc.record({ kind: fc.constantFrom('replace' as const, 'insert' as const), at: place, text: bytes }),
  fc.record({
    kind: fc.constantFrom('cut' as const, 'repeat' as const),
    at: place,
    bytes: fc.integer({ min: 1, max: 60 }),
  }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('line' as const), at: place, text: lines }) },
  fc.record({ kind: fc.constantFrom('bare LF' as const, 'truncate' as const), at: place }),
);

export const mutations: Arbitrary<readonly Mutation[]> = fc.array(mutation, { minLength: 1, maxLength: 4 });

/** Applies all changes one after the other. */
export function mutate(text: string, changes: readonly Mutation[]): string {
  return changes.reduce(apply, text);
}

function apply(text: string, change: Mutation): string {
  const at = Math.floor(change.at * text.length);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  switch (change.kind) {
    case 'replace':
      return before + change.text + after.slice(change.text.length);
    case 'insert':
      return before + change.text + after;
    case 'cut':
      return before + after.slice(change.bytes);
    case 'repeat':
      return before + after.slice(0, change.bytes) + after;
    case 'line':
      return insertLine(text, change.at, change.text);
    case 'bare LF':
      return before + after.replace('\r\n', '\n');
    case 'truncate':
      return before;
  }
}

/** Inserts a header line into the head. */
function insertLine(text: string, at: number, line: string): string {
  const headEnd = text.indexOf('\r\n\r\n');
  const all = (headEnd < 0 ? text : text.slice(0, headEnd)).split('\r\n');
  const rest = headEnd < 0 ? '' : text.slice(headEnd);
  all.splice(1 + Math.floor(at * all.length), 0, line);
  return all.join('\r\n') + rest;
}
