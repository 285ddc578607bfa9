import type { Registry } from 'prom-client';
import { secondMs } from '../clock.ts';
import type { Tail } from '../events/tail.ts';
import { expose } from './metrics.ts';

/** Exposes how many requests wait for an event. */
export function exposeWaits(registry: Registry, tail: Pick<Tail, 'count'>): void {
  const help = 'Requests that wait for an event now.';
  expose(registry, { name: 'event_waits', type: 'gauge', help }, () => [{ labels: {}, value: tail.count() }]);
}

/** Exposes how long events wait for their position. Returns the function that notes each measurement. */
export function exposeFeedLag(registry: Registry): (ms: number) => void {
  let lastMs = 0;
  const help = 'Longest wait of an event for its position, when this instance last looked.';
  expose(registry, { name: 'event_lag_seconds', type: 'gauge', help }, () => [
    { labels: {}, value: lastMs / secondMs },
  ]);
  return (ms) => {
    lastMs = Math.max(0, ms);
  };
}
