import { ask } from '../../test/support/instances.ts';
import type { ServiceProcess } from '../../test/support/processes.ts';
import type { Services } from '../services.ts';

/** A kill may lose the counts of this many milliseconds (contract section 6). */
const lossMsMax = 1_000;
/** A follower waits at the service while the counts are compared, so its request may be counted or not. */
const waiting = 2;

/** Compares the counts of a key with the answers around each kill of the only service. `graceMs` is for a busy machine. */
export function watchCounts({ all, key, traffic }: Services, graceMs: number) {
  let usedBefore = 0;
  let answersBefore = 0;
  let sentBefore = 0;
  let killedAtMs = 0;
  let longestMs = 0;

  return {
    async begin(): Promise<void> {
      usedBefore = await readDayUsed(all[0], key);
      answersBefore = traffic.answeredAtMs.length;
      sentBefore = traffic.sent;
    },
    afterKill(): void {
      killedAtMs = performance.now();
    },
    /** Throws if more than the last second before the kill was lost, or if more is counted than was sent. */
    async end(): Promise<void> {
      const counted = (await readDayUsed(all[0], key)) - 1 - usedBefore;
      const sent = traffic.sent - sentBefore + waiting;
      if (counted > sent) throw new Error(`${counted} requests are counted, and ${sent} were sent`);
      const answered = traffic.answeredAtMs.length - answersBefore;
      const lost = Math.max(0, answered - counted - waiting);
      // The lost requests may have been sent before `begin`.
      const beforeKill = traffic.answeredAtMs.filter((atMs) => atMs <= killedAtMs);
      const lostMs = lost === 0 ? 0 : killedAtMs - (beforeKill.at(-lost) ?? 0);
      if (lostMs > lossMsMax + graceMs) throw new Error(`the counts of ${Math.round(lostMs)} ms were lost`);
      longestMs = Math.max(longestMs, Math.round(lostMs));
    },
    longestMs: () => longestMs,
  };
}

/** Sends a request and returns how many requests of its day window the account has used, including this request. */
export async function readDayUsed(service: ServiceProcess | undefined, key: string): Promise<number> {
  if (service === undefined) throw new Error('there is no service');
  const response = await ask(service, key, '/pets?limit=1');
  await response.text();
  const [, quota] = /"day";q=(\d+)/.exec(response.headers.get('ratelimit-policy') ?? '') ?? [];
  const [, left] = /"day";r=(\d+)/.exec(response.headers.get('ratelimit') ?? '') ?? [];
  if (response.status !== 200 || quota === undefined || left === undefined)
    throw new Error(`the first request was answered with ${response.status}`);
  return Number(quota) - Number(left);
}
