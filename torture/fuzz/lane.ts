import assert from 'node:assert/strict';
import { parseExactJson } from '../../src/exact-json.ts';
import { type Description, expectDescribed, matchesSchema } from '../../test/http/openapi/description.ts';
import { expectCommonHeaders } from '../../test/support/expect-error.ts';
import type { RawConnection, RawResponse } from '../../test/support/raw-http.ts';
import { type Call, findOperation, knownEtag } from './call.ts';
import { type Memory, writeRequest } from './request-text.ts';
import { createRetries } from './retries.ts';
import { noteAnimal, type Shop } from './shop.ts';
import { foresee } from './verdict.ts';

/** A client with a persistent connection that remembers the links and the last ETag of its answers. */
export interface Lane {
  /** Sends calls one after the other, or pipelined, and checks every answer against the description. */
  run(calls: readonly Call[], isPipelined: boolean): Promise<void>;
}

export interface LaneOptions {
  readonly description: Description;
  readonly shop: Shop;
  /** The number of the lane. It makes the Idempotency-Keys and the client addresses of each lane unique. */
  readonly number: number;
  connect(): Promise<RawConnection>;
  /** Called for each answer. */
  onAnswer(status: number): void;
}

export function createLane({ description, shop, number, connect, onAnswer }: LaneOptions): Lane {
  const links: string[] = [];
  let connection: RawConnection | null = null;
  let latestEtag = '""';
  let run = 0;

  const memory: Memory = {
    authorize: ({ key }) => (shop.keys[key] === null ? null : `Bearer ${shop.keys[key]}`),
    nameHeader: ({ name: header, text }) => {
      if (header === 'Idempotency-Key' && text.startsWith('key-')) return `lane-${number}-${run}-${text}`;
      return header === 'If-None-Match' && text === knownEtag ? latestEtag : text;
    },
    get forwardedFor() {
      return `10.${number}.${(run >> 8) & 255}.${run & 255}`;
    },
  };

  function check(call: Call, answer: RawResponse): void {
    const operation = findOperation(call);
    const shape = call.method === 'HEAD' ? 'bodiless' : 'whole';
    const foreseen = foresee(call);
    assert.ok(foreseen.includes(answer.status), `${answer.status} in place of ${foreseen}: ${answer.body}`);
    expectCommonHeaders(answer);
    if (operation !== null && answer.status !== 405) expectDescribed(description, operation, answer, shape);
    else if (shape === 'whole') expectErrorBody(description, answer);
    latestEtag = answer.headers.get('etag') ?? latestEtag;
    if (operation === 'listPets') learnLink(answer);
    if (operation === 'createPet' && answer.status === 201) expectAdded(call, answer);
    if (call.place.kind === 'made' && answer.status === 200 && shape === 'whole')
      assert.equal(answer.body, shop.pets.get(call.place.id ?? ''));
  }

  /** Fills a call with earlier results: the id of an added animal, or the whole query of a `Link`. */
  function fill(call: Call): Call {
    const { place, followsLink } = call;
    const link = followsLink === null ? undefined : links[followsLink % links.length];
    const filled = link === undefined ? call : { ...call, query: [], link };
    if (place.kind !== 'made') return filled;
    return { ...filled, place: { ...place, id: shop.ids[place.choice % shop.ids.length] ?? '1' } };
  }

  function learnLink({ headers }: RawResponse): void {
    const [, query] = /^<[^?]*\?([^>]*)>; rel="next"$/.exec(headers.get('link') ?? '') ?? [];
    if (query !== undefined && links.length < 1_000) links.push(query);
  }

  /** Requires that the new animal equals the sent body exactly and that `Location` has its id. */
  function expectAdded(call: Call, { headers, body }: RawResponse): void {
    const sent = parseExactJson(call.body?.text ?? '') as Record<string, unknown>;
    const pet = noteAnimal(shop, body);
    const { id, name: petName, categoryId, status } = pet;
    assert.deepEqual(
      [petName, categoryId, status],
      [sent['name'], sent['categoryId'], sent['status'] ?? 'available'],
    );
    assert.equal(headers.get('location'), `/v1/pets/${id}`);
  }

  return {
    async run(made, isPipelined) {
      run += 1;
      const calls = made.map(fill);
      const retries = createRetries(isPipelined);
      connection ??= await connect();
      const open = connection;
      try {
        const ids: string[] = [];
        const send = (call: Call) => open.send(writeRequest(call, memory));
        const receive = async (call: Call) => {
          const answer = await readInTime(open, call.method === 'HEAD');
          onAnswer(answer.status);
          check(call, answer);
          if (findOperation(call) === 'createPet') retries.check(call, answer);
          ids.push(answer.headers.get('x-request-id') ?? '');
        };
        if (isPipelined) {
          for (const call of calls) send(call);
          for (const call of calls) await receive(call);
        } else
          for (const call of calls) {
            send(call);
            await receive(call);
          }
        await expectInStep(open);
        assert.equal(new Set(ids).size, ids.length, 'two answers have the same X-Request-Id');
      } catch (error) {
        connection = null;
        open.reset();
        throw error;
      }
    },
  };

  /** Sends a valid request and requires its own answer. Otherwise an earlier answer was lost or is left over. */
  async function expectInStep(open: RawConnection): Promise<void> {
    const id = shop.ids[run % shop.ids.length] ?? '1';
    open.send(
      `GET /v1/pets/${id} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${shop.keys.ample}\r\n\r\n`,
    );
    const answer = await readInTime(open, false);
    onAnswer(answer.status);
    assert.equal(answer.status, 200);
    assert.equal(answer.body, shop.pets.get(id));
  }
}

const answerMsMax = 60_000;

async function readInTime(connection: RawConnection, isHead: boolean): Promise<RawResponse> {
  const impatience = setTimeout(() => connection.reset(), answerMsMax);
  try {
    return await connection.read(isHead ? 'bodiless' : undefined);
  } finally {
    clearTimeout(impatience);
  }
}

function expectErrorBody(description: Description, { status, headers, body }: RawResponse): void {
  const schema = description.components['schemas']?.['Error'];
  assert.ok(schema !== undefined && matchesSchema(description, schema, JSON.parse(body)), body);
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(JSON.parse(body).status, status);
}
