import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { exchangeOne, formatHeads } from '../../support/raw-http.ts';
import { startWithKey } from '../../support/service.ts';

const { service, key } = await startWithKey({ after });
// A proxy might treat `hidden` as part of the first request. The service must never handle it.
const { host, authorization, post, add: hidden } = formatHeads(key);
const head = host + authorization;
const json = `${head}Content-Type: application/json\r\n`;
const chunked = `${post}Transfer-Encoding: chunked\r\n\r\n`;

afterEach(async () => assert.equal(await service.countPets(), 0, 'the service handled the hidden request'));

/** First requests whose end is ambiguous. The service must not read anything after them as a request. */
const shapes: readonly (readonly [what: string, text: string])[] = [
  ['two lengths', `${post}Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n`],
  ['two lengths in one header', `${post}Content-Length: 0, ${hidden.length}\r\n\r\n`],
  ['a length and chunks', `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['chunks and a length', `${post}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`],
  ['two transfer codings', `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: cow\r\n\r\n0\r\n\r\n`],
  ['chunks that are not the last coding', `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
  ['the unknown transfer coding xchunked', `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ['a vertical tab before the transfer coding', `${post}Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n`],
  ['a blank before the colon of Transfer-Encoding', `${post}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`],
  ['a folded Transfer-Encoding header', `${post}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`],
  ['a blank before Content-Length', `POST /v1/pets HTTP/1.1\r\n Content-Length: 5\r\n${json}\r\n`],
  ['a NUL in the name Content-Length', `POST /v1/pets HTTP/1.1\r\nContent-Length\0: 5\r\n${json}\r\n`],
  ['a length with a sign', `${post}Content-Length: +0\r\n\r\n`],
  ['a length in hexadecimal', `${post}Content-Length: 0x0\r\n\r\n`],
  ['a length of 2^64', `${post}Content-Length: 18446744073709551616\r\n\r\n`],
  ['a chunk size with a sign', `${chunked}+0\r\n\r\n`],
  ['a chunk size in hexadecimal notation', `${chunked}0x0\r\n\r\n`],
  ['a chunk size of 2^64', `${chunked}10000000000000000\r\n\r\n`],
  ['a chunk without its CRLF', `${chunked}2\r\n{}0\r\n\r\n`],
  ['a chunk that ends in LF', `${chunked}2\r\n{}\n0\r\n\r\n`],
  ['a bare LF in a chunk extension', `${chunked}0;\n\r\n\r\n`],
  ['a bare LF at the end of a header', `POST /v1/pets HTTP/1.1\r\nX: y\n${json}Content-Length: 0\r\n\r\n`],
  ['a bare CR in a header', `POST /v1/pets HTTP/1.1\r\nX: y\rContent-Length: 0\r\n${json}\r\n`],
  ['a request line of HTTP/0.9', `GET /v1/pets\r\n${head}\r\n`],
  ['a request line of HTTP/2', `GET /v1/pets HTTP/2.0\r\n${head}\r\n`],
  ['CONNECT', `CONNECT localhost:80 HTTP/1.1\r\n${head}\r\n`],
  ['HTTP/1.0 and chunks', `POST /v1/pets HTTP/1.0\r\n${json}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
];

for (const [what, text] of shapes)
  test(`no request is read after a request with ${what}`, async (t) => {
    const { status, headers } = await exchangeOne(t, service.baseUrl, text + hidden);
    assert.ok([400, 405, 429].includes(status), `${status}`);
    assert.equal(headers.get('connection'), 'close');
  });

const close = `${head}Connection: close`;
const lastGet = `GET /v1/pets HTTP/1.1\r\n${close}`;
const ofHidden = `Content-Length: ${hidden.length}\r\n\r\n${hidden}`;
const inChunks = `Transfer-Encoding: chunked\r\n\r\n${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
const upgrade = 'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__';
const wholes: readonly (readonly [what: string, text: string, status: number])[] = [
  ['a body on GET', `${lastGet}\r\n${ofHidden}`, 200],
  ['a chunked body on GET', `${lastGet}\r\n${inChunks}`, 200],
  ['a body for an unknown address', `POST /v1/none HTTP/1.1\r\n${close}\r\n${ofHidden}`, 404],
  ['a body of text', `POST /v1/pets HTTP/1.1\r\n${close}\r\nContent-Type: text/plain\r\n${ofHidden}`, 415],
  ['names with an underscore', `${lastGet}\r\nContent_Length: 0\r\nTransfer_Encoding: chunked\r\n\r\n`, 200],
  ['an Upgrade to HTTP/2', `${lastGet}, Upgrade, HTTP2-Settings\r\n${upgrade}\r\n\r\n`, 200],
  ['headers that Connection names', `${lastGet}, Authorization, Host\r\n\r\n`, 200],
  ['an absolute target', `GET http://other.example/v1/pets HTTP/1.1\r\n${close}\r\n\r\n`, 200],
];

for (const [what, text, status] of wholes)
  test(`a request with ${what} is one request, which gets ${status}`, async (t) =>
    assert.equal((await exchangeOne(t, service.baseUrl, text)).status, status));
