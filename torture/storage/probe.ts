import { expectError } from '../../test/support/expect-error.ts';
import { openRaw, type RawResponse } from '../../test/support/raw-http.ts';
import type { TortureContext } from '../scenario.ts';

interface Found {
  /** Requests answered with 503. */
  readonly refused: number;
  /** Animals answered with 404. */
  readonly missing: number;
}

/** Only every fifth animal is requested by id, because the pages contain all of them. */
const everyNth = 5n;

/**
 * Requests every fifth animal by id, then all pages of the list, and adds 20 animals. Throws if an answer is neither
 * correct nor 503 `unavailable`. A request by id may also get 404.
 */
export async function probe(
  context: TortureContext,
  url: string,
  key: string,
  names: ReadonlyMap<bigint, string>,
): Promise<Found> {
  const connection = await openRaw(context, url);
  let refused = 0;
  let missing = 0;

  async function ask(line: string, body = ''): Promise<RawResponse | null> {
    const about = body === '' ? '' : `content-type: application/json\r\ncontent-length: ${body.length}\r\n`;
    connection.send(`${line} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\n${about}\r\n${body}`);
    const answer = await connection.read();
    if (answer.status < 500) return answer;
    await expectError(answer, 503, 'unavailable');
    refused += 1;
    return null;
  }

  function requireRight({ id, name }: { id: number; name: string }): void {
    const expected = names.get(BigInt(id));
    if (expected !== undefined && name !== expected)
      throw new Error(`the animal ${id} is ${expected}, but the answer has ${name}`);
  }

  for (const id of names.keys()) {
    if (id % everyNth !== 0n) continue;
    const answer = await ask(`GET /v1/pets/${id}`);
    if (answer?.status === 404) missing += 1;
    else if (answer !== null) requireRight(JSON.parse(answer.body));
  }
  for (let target: string | undefined = '/v1/pets?limit=100'; target !== undefined; ) {
    const answer = await ask(`GET ${target}`);
    for (const pet of answer === null ? [] : JSON.parse(answer.body)) requireRight(pet);
    target = /<([^>]+)>; rel="next"/.exec(answer?.headers.get('link') ?? '')?.[1];
  }
  for (let added = 0; added < 20; added += 1) await ask('POST /v1/pets', '{"name":"Rex","categoryId":1}');
  connection.end();
  return { refused, missing };
}
