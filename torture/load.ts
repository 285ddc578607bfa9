import { expectCommonHeaders, expectError } from '../test/support/expect-error.ts';
import type { ServiceProcess } from '../test/support/processes.ts';
import { openRaw, type RawConnection, type RawResponse } from '../test/support/raw-http.ts';
import type { EmbeddedStore } from './embedded-store.ts';
import type { TortureContext } from './scenario.ts';

/** Writers and readers that run until they are stopped and check every answer against the documented interface. */
export interface Load {
  /** Number of answers since the last `begin`, by kind and status, such as `add 201`. */
  readonly seen: ReadonlyMap<string, number>;
  /** Resets `seen` and begins another phase. */
  begin(): void;
  /**
   * Resolves when this phase has `count` answers of a kind. Rejects after `phaseMsMax`, or if an answer is wrong.
   */
  until(kind: string, count: number): Promise<void>;
  /** The number of answers in all phases. */
  countAnswers(): number;
  /** Stops the load. Rejects if an answer was wrong. Returns the names of the animals answered with 201, by id. */
  stop(): Promise<ReadonlyMap<bigint, string>>;
}

/** The time limit of a phase, generous for any machine. */
const phaseMsMax = 60_000;

export interface LoadOptions {
  readonly writers: number;
  readonly readers: number;
  /** The prefix of the names of the animals. */
  readonly prefix: string;
}

/** Starts a load. Every answer must be 200, 201 or 503 `unavailable`, and no connection may break. */
export async function startLoad(
  context: TortureContext,
  service: Pick<ServiceProcess, 'url'>,
  key: string,
  { writers, readers, prefix }: LoadOptions,
): Promise<Load> {
  const seen = new Map<string, number>();
  const answered = new Map<bigint, string>();
  const wrong: unknown[] = [];
  let answers = 0;
  let sent = 0;
  let isOver = false;

  async function repeat(work: (connection: RawConnection) => Promise<string>): Promise<void> {
    try {
      const connection = await openRaw(context, service.url);
      while (!isOver && wrong.length === 0) {
        const kind = await work(connection);
        answers += 1;
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
      }
      connection.end();
    } catch (error) {
      wrong.push(error);
    }
  }

  async function add(connection: RawConnection): Promise<string> {
    const name = `${prefix} ${sent++}`;
    const body = JSON.stringify({ name, categoryId: -1 });
    connection.send(
      `POST /v1/pets HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    const answer = await connection.read();
    await judge(answer, 201);
    if (answer.status === 201) answered.set(BigInt(/"id":(\d+)/.exec(answer.body)?.[1] ?? 0), name);
    return `add ${answer.status}`;
  }

  async function read(connection: RawConnection): Promise<string> {
    // The limit varies, so that the cache does not have every answer.
    connection.send(
      `GET /v1/pets?limit=${1 + (sent % 100)} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\n\r\n`,
    );
    const answer = await connection.read();
    await judge(answer, 200);
    return `read ${answer.status}`;
  }

  const clients = [
    ...Array.from({ length: writers }, () => repeat(add)),
    ...Array.from({ length: readers }, () => repeat(read)),
  ];

  return {
    seen,
    begin: () => seen.clear(),
    async until(kind, count) {
      const deadlineMs = performance.now() + phaseMsMax;
      while ((seen.get(kind) ?? 0) < count && wrong.length === 0) {
        if (performance.now() > deadlineMs)
          throw new Error(`no ${count} × ${kind} within ${phaseMsMax} ms: ${JSON.stringify([...seen])}`);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      if (wrong.length > 0) throw wrong[0];
    },
    countAnswers: () => answers,
    async stop() {
      isOver = true;
      await Promise.all(clients);
      if (wrong.length > 0) throw wrong[0];
      return answered;
    },
  };
}

async function judge(answer: RawResponse, expected: number): Promise<void> {
  if (answer.status === expected) return expectCommonHeaders(answer);
  await expectError(answer, 503, 'unavailable');
  if (answer.headers.get('retry-after') !== '1') throw new Error('a 503 without Retry-After: 1');
}

/** Throws if an animal answered with 201 is not in the file as it was sent. */
export function requireKept(store: EmbeddedStore, answered: ReadonlyMap<bigint, string>): void {
  requireAmong(store.query(keptQuery), answered);
}

/** Selects the animals that a load has added. */
export const keptQuery = 'select id, name from pets where category_id = -1';

/** Throws if an animal answered with 201 is not among the rows of `keptQuery` as it was sent. */
export function requireAmong(
  rows: readonly Readonly<Record<string, unknown>>[],
  answered: ReadonlyMap<bigint, string>,
): void {
  const kept = new Map(rows.map(({ id, name }) => [BigInt(String(id)), name]));
  for (const [id, name] of answered)
    if (kept.get(id) !== name)
      throw new Error(`${name} was answered with the id ${id}, but the store has ${kept.get(id)} there`);
}
