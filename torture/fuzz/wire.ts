import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Description } from '../../test/http/openapi/description.ts';
import type { RawResponse } from '../../test/support/raw-http.ts';
import { loopbackAddress } from '../abuse/sockets.ts';
import { createRandom } from '../random.ts';
import type { Scenario } from '../scenario.ts';
import { startTarget } from '../target.ts';
import { exchangeBytes, parseAnswers } from './answers.ts';
import { expectDocumented, isOfHead } from './documented.ts';
import { mutate, mutations } from './mutations.ts';

const laneCount = 8;
const connections = 24_000;
const rex = '{"name":"Rex","categoryId":1}';

/** Valid requests of every kind. The first animal has the id 1. */
function writeSeeds(key: string): readonly string[] {
  const head = `Host: localhost\r\nAuthorization: Bearer ${key}\r\n`;
  const json = `${head}Content-Type: application/json\r\n`;
  return [
    `GET /v1/pets?limit=2&status=available HTTP/1.1\r\n${head}\r\n`,
    `HEAD /v1/pets/1 HTTP/1.1\r\n${head}If-None-Match: "x"\r\n\r\n`,
    `POST /v1/pets HTTP/1.1\r\n${json}Content-Length: ${rex.length}\r\n\r\n${rex}`,
    `POST /v1/pets HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\n8\r\n${rex.slice(0, 8)}\r\n15;a=b\r\n${rex.slice(8)}\r\n0\r\nX: y\r\n\r\n`,
    `GET http://localhost/v1/pets/1 HTTP/1.1\r\n${head}Prefer: handling=strict\r\n\r\n`,
    `OPTIONS * HTTP/1.1\r\n${head}\r\n`,
    `GET /openapi.json HTTP/1.0\r\n${head}Connection: keep-alive\r\n\r\n`,
    `CONNECT localhost:80 HTTP/1.1\r\n${head}\r\n`,
  ];
}

/** Sends valid requests with random changes to their bytes. Each connection must end with complete answers. */
export const fuzzWire: Scenario = {
  name: 'fuzz-wire',
  title: 'Valid requests with random changes to their bytes',
  minutes: 6,
  async run(context) {
    const { seed, scale } = context;
    const target = await startTarget(context);
    const described = await fetch(new URL('/openapi.json', target.url));
    const description = (await described.json()) as Description;
    const { key } = await target.store.createKey();
    await addFirst(target.url, key);
    const seeds = writeSeeds(key);
    const first = seeds[4] ?? '';
    let sent = 0;

    async function exchange(changed: string): Promise<void> {
      const bytes = first + changed;
      const { host, port } = target;
      const received = await exchangeBytes({ host, port, localAddress: loopbackAddress(sent) }, bytes);
      const answers = parseAnswers(received);
      sent += 1;
      expectOrderly(description, answers, bytes);
    }

    const random = createRandom(seed);
    const laneSeeds = Array.from({ length: laneCount }, () => random.between(1, 2 ** 31 - 1));
    const numRuns = Math.ceil((connections * scale) / laneCount);
    const requests = fc
      .array(fc.tuple(fc.constantFrom(...seeds), mutations), { minLength: 1, maxLength: 3 })
      .map((list) => list.map(([text, changes]) => mutate(text, changes)).join(''));
    await Promise.all(
      laneSeeds.map((laneSeed) =>
        fc.assert(fc.asyncProperty(requests, exchange), {
          seed: laneSeed,
          numRuns,
          includeErrorInReport: true,
        }),
      ),
    );
    assert.equal(target.child.exitCode, null);
    assert.doesNotMatch(target.readLog(), /"status":5/);
    return {
      done: `Valid requests with random changes to their bytes, over ${sent} connections`,
      seen: 'no 5xx; only complete answers, in order, each with the described body',
      lost: 'nothing',
      well: 'at once',
    };
  },
};

async function addFirst(url: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/pets`, { method: 'POST', headers, body: rex });
  assert.equal(answer.status, 201);
}

/**
 * Requires a correct first answer, at most one answer for each request, request ids in order, and only documented
 * answers.
 */
function expectOrderly(description: Description, answers: readonly RawResponse[], bytes: string): void {
  const [first] = answers;
  assert.equal(first?.status, 200, 'the status of the valid request before the changed requests');
  assert.match(first.body, /^\{"id":1,/);
  const requestLines = bytes.match(/HTTP\/1\.[01]/g)?.length ?? 0;
  // A request line without a version is a request too. Its refusal says so.
  const withVersion = answers.filter(({ body }) => !body.includes('the request line must name HTTP/1.1'));
  assert.ok(
    withVersion.length <= requestLines + 1,
    `${withVersion.length} answers to ${requestLines} requests`,
  );
  const turns = answers.map(({ headers }) =>
    Number.parseInt(headers.get('x-request-id')?.split('_')[2] ?? '', 36),
  );
  assert.deepEqual(
    turns,
    [...turns].sort((one, other) => one - other),
    'the answers are out of order',
  );
  const headsAsked = bytes.match(/HEAD /g)?.length ?? 0;
  const bodiless = answers.filter(isOfHead).length;
  assert.ok(bodiless <= headsAsked, `${bodiless} answers without their body to ${headsAsked} HEADs`);
  // The description has neither HTML pages nor the redirect from `/` to them.
  const isPage = ({ status, headers }: RawResponse) =>
    (status === 301 && headers.get('location')?.endsWith('/docs') === true) ||
    headers.get('content-type')?.startsWith('text/html') === true;
  for (const answer of answers) if (!isPage(answer)) expectDocumented(description, answer, isOfHead(answer));
}
