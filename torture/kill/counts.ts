import { ask } from '../../test/support/instances.ts';
import type { ServiceProcess } from '../../test/support/processes.ts';

/** How many requests of today an account has used up, this one included. */
export async function readDayUsed(service: ServiceProcess, key: string): Promise<number> {
  const response = await ask(service, key, '/pets?limit=1');
  await response.text();
  const [, quota] = /"day";q=(\d+)/.exec(response.headers.get('ratelimit-policy') ?? '') ?? [];
  const [, left] = /"day";r=(\d+)/.exec(response.headers.get('ratelimit') ?? '') ?? [];
  if (response.status !== 200 || quota === undefined || left === undefined)
    throw new Error(`the first request was answered with ${response.status}`);
  return Number(quota) - Number(left);
}

/** What a kill may lose of the counts (contract section 6). */
const lossMsMax = 1_000;

export interface Counted {
  /** When each answer came. */
  readonly answeredAtMs: readonly number[];
  /** The answered ones and those that had no answer. */
  readonly sent: number;
  readonly killedAtMs: number;
  /** What a machine that has other things to do may take for a turn of the event loop. */
  readonly graceMs: number;
}

/**
 * How old the newest request was that is still counted after a kill, in milliseconds before the kill. Throws where
 * more than the last second was lost, or more was counted than was sent.
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
