import { exchange } from './exchange.ts';
import type { Walk } from './scenarios.ts';
import type { SeededStore } from './store.ts';
import { withKey } from './subjects.ts';
import { withService } from './with-service.ts';

const pagesMax = 4_096;
const pageSize = 20;
const stepMax = 100;

/**
 * Walks a whole store by `Link`, as a client does, and keeps the addresses of at most 4,096 different pages of 20 that are
 * spread evenly over it. In a small store they overlap: a few pages would be dealt out of the processor's caches.
 */
export function walkPages(folder: string, store: SeededStore): Promise<Walk> {
  return withService(folder, store, async (origin) => {
    const step = Math.min(stepMax, Math.max(1, Math.floor(store.animals / pagesMax)));
    const addresses: string[] = [];
    let path: string | undefined = `/v1/pets?limit=${step}`;
    while (path !== undefined) {
      addresses.push(path);
      const { headers } = await exchange(origin, { method: 'GET', path }, withKey(store));
      path = /<([^>]+)>; rel="next"/.exec(String(headers['link']))?.[1];
    }
    const every = Math.ceil(addresses.length / pagesMax);
    const pages = addresses
      .filter((_, index) => index % every === 0)
      .map((address) => address.replace(/(?<=[?&]limit=)\d+/, String(pageSize)));
    return { pages, animals: store.animals };
  });
}
