import { ask } from '../../test/support/instances.ts';
import type { ServiceProcess } from '../../test/support/processes.ts';

/** Sends a request and returns how many requests of its day window the account has used, including this request. */
export async function readDayUsed(service: ServiceProcess, key: string): Promise<number> {
  const response = await ask(service, key, '/pets?limit=1');
  await response.text();
  const [, quota] = /"day";q=(\d+)/.exec(response.headers.get('ratelimit-policy') ?? '') ?? [];
  const [, left] = /"day";r=(\d+)/.exec(response.headers.get('ratelimit') ?? '') ?? [];
  if (response.status !== 200 || quota === undefined || left === undefined)
    throw new Error(`the first request was answered with ${response.status}`);
  return Number(quota) - Number(left);
}

/** A kill may lose the counts of this many milliseconds (contract section 6). */
const lossMsMax = 1_000;

export interface Counted {
  /** The time of each answer, in order. */
  readonly answeredAtMs: readonly number[];
  /** The number of all requests sent, with or without an answer. */
  readonly sent: number;
  readonly killedAtMs: number;
  /** Tolerance for the duration of an event loop turn on a busy machine. */
  readonly graceMs: number;
}

/**
 * Returns the age at the kill of the newest request that is still counted, in milliseconds. Throws if more than the
 * last second was lost, or if more requests are counted than were sent.
 */
export function requireCounted(
  counted: number,
  { answeredAtMs, sent, killedAtMs, graceMs }: Counted,
): number {
  if (counted > sent) throw new Error(`${counted} requests are counted, and ${sent} were sent`);
  const uncountedAtMs = answeredAtMs[Math.max(0, counted)] ?? killedAtMs;
  const lostMs = Math.max(0, killedAtMs - uncountedAtMs);
  if (lostMs > lossMsMax + graceMs)
    throw new Error(`the counts of the last ${Math.round(lostMs)} ms were lost`);
  return lostMs;
}
