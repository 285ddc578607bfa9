import type { Registry } from 'prom-client';
import { secondMs } from '../clock.ts';
import type { Tail } from '../events/tail.ts';
import { expose } from './metrics.ts';

export function exposeWaits(registry: Registry, tail: Pick<Tail, 'count'>): void {
  const help = 'Number of requests that wait for an event.';
  expose(registry, { name: 'event_waits', type: 'gauge', help }, () => [{ labels: {}, value: tail.count() }]);
}

/**
 * Exposes how long events wait for their position in the feed. Returns the function that sets the latest wait in ms.
 */
export function exposeFeedLag(registry: Registry): (ms: number) => void {
  let lastMs = 0;
  const help =
    'Longest time that an event waited for its position in the feed, at the last check of this instance.';
  expose(registry, { name: 'event_lag_seconds', type: 'gauge', help }, () => [
    { labels: {}, value: lastMs / secondMs },
  ]);
  return (ms) => {
    lastMs = Math.max(0, ms);
  };
}
