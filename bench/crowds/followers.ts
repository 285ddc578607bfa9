import { setTimeout as pause } from 'node:timers/promises';
import { exchange } from '../exchange.ts';
import type { Run } from './client.ts';

/** Clients that read the feed of events from its start, each with its own key. */
export interface FollowersOrder {
  readonly kind: 'followers';
  readonly origin: string;
  readonly keys: readonly string[];
  /** The most pages of each key, so that no key exceeds its limits. */
  readonly pagesMax: number;
  /** The time from the beginning of a page to that of the next one. */
  readonly pageEveryMs: number;
}

export interface FollowersSeen {
  readonly pages: number;
}

export async function runFollowers(order: FollowersOrder, { onReady, stopped }: Run): Promise<FollowersSeen> {
  const { origin, keys, pagesMax, pageEveryMs } = order;
  let isOver = false;
  let pages = 0;

  /** Reads one page after the other. Throws if one is refused. The clients begin one after the other. */
  async function follow(key: string, place: number): Promise<void> {
    await pause((place * pageEveryMs) / keys.length);
    let path = '/v1/events?limit=100';
    for (let read = 0; read < pagesMax && !isOver; read += 1) {
      const next = pause(pageEveryMs);
      const answer = await exchange(origin, { method: 'GET', path }, { authorization: `Bearer ${key}` });
      path = /<([^>]+)>; rel="next"/.exec(String(answer.headers['link']))?.[1] ?? path;
      pages += 1;
      await next;
    }
  }

  onReady();
  const following = Promise.all(keys.map(follow));
  void stopped.then(() => {
    isOver = true;
  });
  await following;
  await stopped;
  return { pages };
}
