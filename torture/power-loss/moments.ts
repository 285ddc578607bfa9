import type { Random } from '../random.ts';
import type { DiskEvent } from './disk-events.ts';

/**
 * Sorts events by the time that is least favourable to the service: a change or an answer by its start, a sync by its
 * end.
 */
export function orderByEffect(events: readonly DiskEvent[]): readonly DiskEvent[] {
  return events.toSorted((one, other) => Number(effectNs(one) - effectNs(other)));
}

function effectNs({ kind, beganNs, endedNs }: DiskEvent): bigint {
  return kind === 'sync' ? endedNs : beganNs;
}

/**
 * Chooses the moments of power losses, each as a number of events before it, in ascending order. Half of the moments
 * are right after an answer, because an answer promises durability. The others are after any change or sync.
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
