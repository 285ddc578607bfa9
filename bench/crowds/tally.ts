import { medianOf } from '../statistics.ts';

/** What a crowd saw from the moment when all were connected. */
export interface CrowdSeen {
  readonly answersPerSecond: number;
  /** The number of answers by status. */
  readonly answers: Readonly<Record<number, number>>;
  /** The median time of the answers by status. */
  readonly p50Ms: Readonly<Record<number, number>>;
  /** The requests that the server received, and closed the connection without a whole answer. */
  readonly lost: number;
  /** The requests that the server had not read when it closed the connection. */
  readonly unread: number;
  /** The connections that were open at the end. */
  readonly open: number;
}

/** Counts the answers of a crowd. */
export type Tally = ReturnType<typeof createTally>;

export function createTally() {
  const waitsMs = new Map<number, number[]>();
  /** The number of answers of each connection. */
  const counts: number[] = [];
  let startedMs = performance.now();
  let lost = 0;
  let unread = 0;

  return {
    /** Forgets what was counted so far. */
    begin(): void {
      waitsMs.clear();
      counts.fill(0);
      startedMs = performance.now();
    },
    /** True if each connection has got an answer since the beginning. */
    hasAnsweredAll: (): boolean => counts.every((count) => count > 0),
    /** Returns the number of a new connection. */
    addConnection: (): number => counts.push(0) - 1,
    noteAnswer(connection: number, status: number, ms: number): void {
      counts[connection] = (counts[connection] ?? 0) + 1;
      const known = waitsMs.get(status);
      if (known === undefined) waitsMs.set(status, [ms]);
      else known.push(ms);
    },
    noteUnanswered(isUnread: boolean): void {
      if (isUnread) unread += 1;
      else lost += 1;
    },
    read(open: number): CrowdSeen {
      const seconds = (performance.now() - startedMs) / 1_000;
      const all = [...waitsMs.values()].reduce((sum, { length }) => sum + length, 0);
      return {
        answersPerSecond: all / seconds,
        answers: Object.fromEntries([...waitsMs].map(([status, { length }]) => [status, length])),
        p50Ms: Object.fromEntries([...waitsMs].map(([status, waits]) => [status, medianOf(waits)])),
        lost,
        unread,
        open,
      };
    },
  };
}
