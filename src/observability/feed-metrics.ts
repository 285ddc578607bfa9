import type { Registry } from 'prom-client';
import { secondMs } from '../clock.ts';
import type { Tail } from '../events/tail.ts';
import { expose } from './metrics.ts';

/** Shows how many requests wait for an event. */
export function exposeWaits(registry: Registry, tail: Pick<Tail, 'count'>): void {
  const help = 'Requests that wait for an event at this moment.';
  expose(registry, { name: 'event_waits', type: 'gauge', help }, () => [{ labels: {}, value: tail.count() }]);
}

/** Shows how long events wait until they can be read; gives what is to be told of each look at them. */
export function exposeFeedLag(registry: Registry): (ms: number) => void {
  let lastMs = 0;
  const help =
    'How long the event had waited that waited longest for its position when this instance last looked.';
  expose(registry, { name: 'event_lag_seconds', type: 'gauge', help }, () => [
    { labels: {}, value: lastMs / secondMs },
  ]);
  return (ms) => {
    lastMs = Math.max(0, ms);
  };
}
