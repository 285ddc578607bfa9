import assert from 'node:assert/strict';
import { slowRequestMs } from '../../src/http/request-log.ts';
import { formatRequest, openRaw } from '../../test/support/raw-http.ts';
import { createRandom } from '../random.ts';
import { share } from '../scenario.ts';
import { abuse } from './abuse.ts';

/** Number of bytes for the tested text. Together with the other lines, the head stays below its limit of 16 KiB. */
const headRoom = 15_500;
const bodyRoom = 65_536;

/** Repeats a piece between a start and an end until the text fills `room` characters. */
function fill(room: number, piece: string, start = '', end = ''): string {
  return start + piece.repeat(Math.floor((room - start.length - end.length) / piece.length)) + end;
}

/** Texts that may cause backtracking in a regular expression if they are repeated. */
const pieces = [
  ...' ,;="a0-%\t:[\xe9',
  ...['\\"', '%25', '%c3%28', 'W/"', '", ', '; q=', ';charset', '; charset =', 'handling=', 'bearer '],
  ...['as_live_', '1.', '::', '::ffff:1.1.1.1, '],
];
const headers = [
  ...[
    'Authorization',
    'If-None-Match',
    'Prefer',
    'Accept',
    'Accept-Encoding',
    'X-Forwarded-For',
    'Content-Type',
  ],
  ...['Content-Encoding', 'Idempotency-Key', 'Origin', 'Host', 'Cookie', 'Range', 'Expect'],
];
const starts: Readonly<Record<string, string>> = {
  Authorization: 'Bearer ',
  Prefer: 'handling',
  'Content-Type': 'application/json; charset',
  'If-None-Match': 'W/',
};

interface Input {
  readonly what: string;
  readonly text: string;
}

function* headInputs(key: string): Generator<Input> {
  const authorization = `Bearer ${key}`;
  const usual = { authorization, connection: 'keep-alive' };
  for (const name of headers)
    for (const piece of pieces) {
      const value = fill(headRoom, piece, starts[name] ?? '', '!');
      const isPost = name.startsWith('Content') || name.startsWith('Idem');
      const line = isPost ? 'POST /v1/pets' : 'GET /v1/pets';
      const body = isPost ? '{}' : '';
      const own = {
        'content-type': 'application/json',
        'content-length': String(body.length),
        [name.toLowerCase()]: value,
      };
      yield {
        what: `${name} of ${JSON.stringify(piece)}`,
        text: formatRequest(line, { ...usual, ...own }, body),
      };
    }
  for (const parameter of ['limit', 'status', 'cursor', 'x', ''])
    for (const piece of [...'10a+&=[.', '%00', '%f0%9f%90%88', '&cursor=', '__proto__'])
      yield {
        what: `${parameter} of ${JSON.stringify(piece)}`,
        text: formatRequest(`GET ${fill(headRoom, piece, `/v1/pets?${parameter}=`)}`, {
          ...usual,
          prefer: 'handling=strict',
        }),
      };
  for (const piece of [...'/1%:;', '%2f', '..%2f', '../', 'a/', '%25', '//'])
    yield {
      what: `a path of ${JSON.stringify(piece)}`,
      text: formatRequest(`GET ${fill(headRoom, piece, '/v1/pets/')}`, usual),
    };
}

function* bodyInputs(key: string): Generator<Input> {
  const member = (n: number) => `"${n.toString(36)}":1`;
  const members = Array.from({ length: 6_500 }, (_, n) => member(n)).join(',');
  const bodies: readonly (readonly [what: string, body: string])[] = [
    ['arrays in arrays', fill(bodyRoom, '[')],
    ['objects in objects', fill(bodyRoom, '{"a":')],
    ['objects in objects, closed', `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`],
    ['a number of 65,000 digits', fill(bodyRoom, '9', '{"name":"a","categoryId":', '}')],
    ['a number of 65,000 zeros', fill(bodyRoom, '0', '{"name":"a","categoryId":1', 'e-65000}')],
    ['1e999999', '{"name":"a","categoryId":1e999999}'],
    ['4,000 long numbers', fill(bodyRoom, '1234567890123456,', '[', '1]')],
    ['10,000 exponents', fill(bodyRoom, '1e999,', '[', '1]')],
    ['6,500 fields', `{${members}}`],
    ['6,000 times the same name', fill(bodyRoom, '"name":"a",', '{', '"categoryId":null}')],
    ['3,600 times __proto__', fill(bodyRoom, '"__proto__":{},', '{', '"name":"a"}')],
    ['a name of blanks', fill(bodyRoom, ' ', '{"name":"', '","categoryId":1}')],
    ['a name of lone surrogates', fill(bodyRoom, '\\ud800', '{"name":"', '","categoryId":1}')],
    [
      'a field that is named by 65,000 characters',
      fill(bodyRoom, 'a', '{"', '":1,"name":"a","categoryId":1}'),
    ],
    ['escapes without an end', fill(bodyRoom, '\\"', '"')],
    ['compressed bytes', `\x1f\x8b${'\0'.repeat(60_000)}`],
  ];
  for (const [what, body] of bodies)
    yield {
      what,
      text: formatRequest(
        'POST /v1/pets',
        {
          authorization: `Bearer ${key}`,
          connection: 'keep-alive',
          prefer: 'handling=strict',
          'content-type': 'application/json',
          'content-length': String(body.length),
        },
        body,
      ),
    };
}

/** At full scale, each request must take less than `slowRequestMs`, the time from which the service logs it as slow. */
export const heavyInputs = abuse({
  name: 'heavy-inputs',
  title: 'Texts that are expensive to parse, in every header, parameter and body',
  minutes: 4,
  settings: { TRUST_PROXY: '3' },
  growthMibMax: 300,
  async misbehave(context, target) {
    const { key } = await target.store.createKey();
    const random = createRandom(context.seed);
    const inputs = [...headInputs(key), ...bodyInputs(key)].filter(() => random.next() < context.scale * 2);
    let connection = await openRaw(context, target.url);
    const slowest = { what: '', ms: 0 };
    let count = 0;
    for (let round = 0; round < share(5, context); round += 1)
      for (const { what, text } of inputs) {
        const startedMs = performance.now();
        connection.send(text);
        const { status, headers: answered, body } = await connection.read();
        const ms = performance.now() - startedMs;
        assert.ok(status < 500 && answered.has('x-request-id'), `${what}: ${status} ${body}`);
        assert.ok(context.scale < 1 || ms < slowRequestMs, `${what} took ${Math.round(ms)} ms`);
        if (ms > slowest.ms) Object.assign(slowest, { what, ms });
        count += 1;
        if (answered.get('connection') === 'close') connection = await openRaw(context, target.url);
      }
    return {
      done: `${count} requests with ${inputs.length} texts that are expensive to parse: deep, long, repeated, up to 16 KB in a head and 64 KB in a body`,
      seen: `only 200 and 4xx, the slowest after ${Math.round(slowest.ms)} ms (${slowest.what})`,
      well: 'at once',
    };
  },
});
