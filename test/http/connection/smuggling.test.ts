import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { exchangeRaw } from '../../support/raw-http.ts';
import { startService } from '../../support/service.ts';

const service = await startService({ after });
const key = await service.createKey();
const head = `Host: localhost\r\nAuthorization: Bearer ${key}\r\n`;
const json = `${head}Content-Type: application/json\r\n`;
const rex = '{"name":"Rex","categoryId":1}';

/** What a program on the way might take for a part of the first request: here it must never be one of its own. */
const hidden = `POST /v1/pets HTTP/1.1\r\n${json}Content-Length: ${rex.length}\r\n\r\n${rex}`;

afterEach(async () => assert.equal(await service.countPets(), 0, 'the hidden request was taken'));

/** The first request of each; where its end is in doubt, nothing behind it may be read as a request. */
const shapes: readonly (readonly [what: string, text: string])[] = [
  [
    'two lengths',
    `POST /v1/pets HTTP/1.1\r\n${json}Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n`,
  ],
  [
    'two lengths in one header',
    `POST /v1/pets HTTP/1.1\r\n${json}Content-Length: 0, ${hidden.length}\r\n\r\n`,
  ],
  [
    'a length and chunks',
    `POST /v1/pets HTTP/1.1\r\n${json}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'chunks and a length',
    `POST /v1/pets HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
  ],
  [
    'two codings of which one is not known',
    `POST /v1/pets HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\nTransfer-Encoding: cow\r\n\r\n0\r\n\r\n`,
  ],
  [
    'chunks that are not the last coding',
    `POST /v1/pets HTTP/1.1\r\n${json}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
  ],
  [
    'a coding that only looks like chunks',
    `POST /v1/pets HTTP/1.1\r\n${json}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'a coding behind a vertical tab',
    `POST /v1/pets HTTP/1.1\r\n${json}Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'a blank before the colon of the coding',
    `POST /v1/pets HTTP/1.1\r\n${json}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'a coding in a header that is folded',
    `POST /v1/pets HTTP/1.1\r\n${json}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`,
  ],
  ['a blank before the name of the length', `POST /v1/pets HTTP/1.1\r\n Content-Length: 5\r\n${json}\r\n`],
  ['a NUL in the name of the length', `POST /v1/pets HTTP/1.1\r\nContent-Length\0: 5\r\n${json}\r\n`],
  ['a length with a sign', `POST /v1/pets HTTP/1.1\r\n${json}Content-Length: +0\r\n\r\n`],
  ['a length in hexadecimal', `POST /v1/pets HTTP/1.1\r\n${json}Content-Length: 0x0\r\n\r\n`],
  ['a length of 2^64', `POST /v1/pets HTTP/1.1\r\n${json}Content-Length: 18446744073709551616\r\n\r\n`],
  [
    'a chunk size with a sign',
    `POST /v1/pets HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n`,
  ],
  [
    'a chunk size in hexadecimal notation',
    `POST /v1/pets HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n`,
  ],
  [
    'a chunk size of 2^64',
    `POST /v1/pets HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n\r\n`,
  ],
  [
    'a chunk without its CRLF',
    `POST /v1/pets HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\n2\r\n{}0\r\n\r\n`,
  ],
  [
    'a chunk that ends in LF',
    `POST /v1/pets HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\n0\r\n\r\n`,
  ],
  [
    'a bare LF in a chunk extension',
    `POST /v1/pets HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\n0;\n\r\n\r\n`,
  ],
  ['a bare LF at the end of a header', `POST /v1/pets HTTP/1.1\r\nX: y\n${json}Content-Length: 0\r\n\r\n`],
  ['a bare CR in a header', `POST /v1/pets HTTP/1.1\r\nX: y\rContent-Length: 0\r\n${json}\r\n`],
  ['a request line of HTTP/0.9', `GET /v1/pets\r\n${head}\r\n`],
  ['a request line of HTTP/2', `GET /v1/pets HTTP/2.0\r\n${head}\r\n`],
  ['CONNECT', `CONNECT localhost:80 HTTP/1.1\r\n${head}\r\n`],
  ['HTTP/1.0 with chunks', `POST /v1/pets HTTP/1.0\r\n${json}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
];

for (const [what, text] of shapes)
  test(`after ${what} no request is read`, async (t) => {
    const answers = await exchangeRaw(t, service.baseUrl, text + hidden);
    assert.equal(answers.length, 1, JSON.stringify(answers.map(({ status }) => status)));
    const [answer] = answers;
    assert.ok([400, 405, 429].includes(answer?.status ?? 0), `${answer?.status}`);
    assert.equal(answer?.headers.get('connection'), 'close');
  });

const wholes: readonly (readonly [what: string, text: string, status: number])[] = [
  [
    'a body on GET',
    `GET /v1/pets HTTP/1.1\r\n${head}Connection: close\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    200,
  ],
  [
    'a chunked body on GET',
    `GET /v1/pets HTTP/1.1\r\n${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`,
    200,
  ],
  [
    'a body where nothing is',
    `POST /v1/none HTTP/1.1\r\n${head}Connection: close\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    404,
  ],
  [
    'a body that is refused for its type',
    `POST /v1/pets HTTP/1.1\r\n${head}Connection: close\r\nContent-Type: text/plain\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    415,
  ],
  [
    'a name with an underscore',
    `GET /v1/pets HTTP/1.1\r\n${head}Connection: close\r\nContent_Length: 0\r\nTransfer_Encoding: chunked\r\n\r\n`,
    200,
  ],
  [
    'an Upgrade to HTTP/2',
    `GET /v1/pets HTTP/1.1\r\n${head}Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
    200,
  ],
  [
    'headers that Connection names',
    `GET /v1/pets HTTP/1.1\r\n${head}Connection: close, Authorization, Host\r\n\r\n`,
    200,
  ],
  ['the whole address', `GET http://other.example/v1/pets HTTP/1.1\r\n${head}Connection: close\r\n\r\n`, 200],
];

for (const [what, text, status] of wholes)
  test(`${what} is read as HTTP/1.1 says: one request, ${status}`, async (t) => {
    const answers = await exchangeRaw(t, service.baseUrl, text);
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [status],
    );
  });
