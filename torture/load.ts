import { expectCommonHeaders, expectError } from '../test/support/expect-error.ts';
import type { ServiceProcess } from '../test/support/processes.ts';
import { openRaw, type RawConnection, type RawResponse } from '../test/support/raw-http.ts';
import type { TortureContext } from './scenario.ts';
import type { Store } from './store.ts';

/** Writers and readers that run until they are stopped and check every answer against the documented interface. */
export interface Load {
  /** The number of answers of a kind since the last `begin`, such as `add 201`. */
  count(kind: string): number;
  /** Begins another phase, without answers. */
  begin(): void;
  /** Resolves when each service has given `count` answers of a kind in this phase. Rejects if an answer is wrong. */
  until(kind: string, count: number): Promise<void>;
  /** The number of answers in all phases. */
  countAnswers(): number;
  /** Stops the load. Rejects if an answer was wrong. Returns the names of the animals answered with 201, by id. */
  stop(): Promise<ReadonlyMap<bigint, string>>;
}

/** The time limit of a phase, generous for any machine. */
const phaseMsMax = 60_000;

export interface LoadOptions {
  /** The writers and readers of each service. */
  readonly writers: number;
  readonly readers: number;
  /** The prefix of the names of the animals. */
  readonly prefix?: string;
}

/** Starts a load. Every answer must be 200, 201 or 503 `unavailable`, and no connection may break. */
export function startLoad(
  context: TortureContext,
  services: readonly Pick<ServiceProcess, 'url'>[],
  key: string,
  { writers, readers, prefix = 'loaded' }: LoadOptions,
): Load {
  const seen = services.map(() => new Map<string, number>());
  const answered = new Map<bigint, string>();
  const wrong: unknown[] = [];
  let answers = 0;
  let sent = 0;
  let isOver = false;

  async function repeat(place: number, work: (connection: RawConnection) => Promise<string>): Promise<void> {
    try {
      const connection = await openRaw(context, services[place]?.url ?? '');
      while (!isOver && wrong.length === 0) {
        const kind = await work(connection);
        answers += 1;
        seen[place]?.set(kind, (seen[place].get(kind) ?? 0) + 1);
      }
      connection.end();
    } catch (error) {
      wrong.push(error);
    }
  }

  async function add(connection: RawConnection): Promise<string> {
    const name = `${prefix} ${sent++}`;
    connection.send(formatAdd(key, name));
    const answer = await connection.read();
    await judge(answer, 201);
    if (answer.status === 201) answered.set(readId(answer), name);
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

  const clients = services.flatMap((_, place) => [
    ...Array.from({ length: writers }, () => repeat(place, add)),
    ...Array.from({ length: readers }, () => repeat(place, read)),
  ]);
  const isMet = (kind: string, count: number) => seen.every((counts) => (counts.get(kind) ?? 0) >= count);

  return {
    count: (kind) => seen.reduce((sum, counts) => sum + (counts.get(kind) ?? 0), 0),
    begin() {
      for (const counts of seen) counts.clear();
    },
    async until(kind, count) {
      const deadlineMs = performance.now() + phaseMsMax;
      while (!isMet(kind, count) && wrong.length === 0) {
        if (performance.now() > deadlineMs)
          throw new Error(
            `no ${count} × ${kind} within ${phaseMsMax} ms: ${JSON.stringify(seen.map((counts) => [...counts]))}`,
          );
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

/** Formats the request of an animal. `header` is a further header line. */
export function formatAdd(key: string, name: string, header = ''): string {
  const body = JSON.stringify({ name, categoryId: -1 });
  return `POST /v1/pets HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${header}\r\n${body}`;
}

export function readId({ body }: RawResponse): bigint {
  return BigInt(/"id":(\d+)/.exec(body)?.[1] ?? 0);
}

async function judge(answer: RawResponse, expected: number): Promise<void> {
  if (answer.status === expected) return expectCommonHeaders(answer);
  await expectError(answer, 503, 'unavailable');
  if (answer.headers.get('retry-after') !== '1') throw new Error('a 503 without Retry-After: 1');
}

/** Throws if an animal answered with 201 is not in the store as it was sent. */
export async function requireKept({ query }: Store, answered: ReadonlyMap<bigint, string>): Promise<void> {
  const rows = await query('select id, name from pets where category_id = -1');
  const kept = new Map(rows.map(({ id, name }) => [BigInt(String(id)), name]));
  for (const [id, name] of answered)
    if (kept.get(id) !== name)
      throw new Error(`${name} was answered with the id ${id}, but the store has ${kept.get(id)} there`);
}

/** The log may be on the same full disk. Under any load, it has at most so many lines, and so many more each second. */
const linesMax = 100;
/** 10 for answers with 503, and 10 for slow ones. */
const linesPerSecondMax = 20;

/** Throws if a log has too many lines for its time, or one with a stack trace. */
export function requireFewLines(log: string): void {
  const lines = log.trimEnd().split('\n');
  const traced = lines.find((line) => line.includes('"stack"') || /^\s+at /.test(line));
  if (traced !== undefined) throw new Error(`the log has a stack trace: ${traced.slice(0, 500)}`);
  const seconds = countSeconds(lines);
  if (lines.length > linesMax + linesPerSecondMax * seconds)
    throw new Error(`the log has ${lines.length} lines in ${seconds} s, such as ${lines.at(-1)}`);
}

/** Returns the seconds between the first and the last line of a log that have a time. */
function countSeconds(lines: readonly string[]): number {
  const times = lines.flatMap((line) => /"time":"([^"]+)"/.exec(line)?.[1] ?? []).map(Date.parse);
  return ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
}
