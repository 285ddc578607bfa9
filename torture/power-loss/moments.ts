import type { Random } from '../random.ts';
import type { DiskEvent } from './disk-events.ts';

/** Sorts events by when they count against the service: a change or an answer at its start, a sync at its end. */
export function orderByEffect(events: readonly DiskEvent[]): readonly DiskEvent[] {
  return events.toSorted((one, other) => Number(effectNs(one) - effectNs(other)));
}

function effectNs({ kind, beganNs, endedNs }: DiskEvent): bigint {
  return kind === 'sync' ? endedNs : beganNs;
}

/**
 * Chooses after how many events the power fails, in ascending order. Half of the moments are right after an answer,
 * when the most is promised. The others are after any change or sync.
 */
export function chooseMoments(
  events: readonly DiskEvent[],
  count: number,
  random: Random,
): readonly number[] {
  const answers: number[] = [];
  const others: number[] = [];
  for (const [index, event] of events.entries()) {
    if (event.kind !== 'send') others.push(index + 1);
    else if (event.text.includes('"id":')) answers.push(index + 1);
  }
  const chosen = Array.from({ length: count }, (_, image) => random.pick(image % 2 === 0 ? answers : others));
  return chosen.toSorted((one, other) => one - other);
}
