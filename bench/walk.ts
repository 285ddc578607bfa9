import { exchange } from './exchange.ts';
import type { Walk } from './scenarios.ts';
import type { SeededStore } from './store.ts';
import { withKey } from './subjects.ts';
import { withService } from './with-service.ts';

const pagesMax = 4_096;
const manyPagesMax = 300_000;
const stepsMax = 10_000;
const limitMax = 100;
const pageSize = 20;
/** Limits whose mean is the page size: each cursor stands for that many different pages. */
const limits = Array.from({ length: 2 * pageSize - 9 }, (_, index) => index + 5);

/** Walks a whole store by `Link`, as a client does, and makes pages from the cursors. */
export function walkPages(folder: string, store: SeededStore): Promise<Walk> {
  return withService(folder, store, async (origin) => {
    const step = Math.min(limitMax, Math.max(1, Math.ceil(store.animals / stepsMax)));
    const addresses: string[] = [];
    let path: string | undefined = `/v1/pets?limit=${step}`;
    while (path !== undefined) {
      addresses.push(path);
      const { headers } = await exchange(origin, { method: 'GET', path }, withKey(store));
      path = /<([^>]+)>; rel="next"/.exec(String(headers['link']))?.[1];
    }
    const every = Math.ceil(addresses.length / pagesMax);
    return {
      pages: addresses
        .filter((_, index) => index % every === 0)
        .map((address) => withLimit(address, pageSize)),
      manyPages: limits
        .flatMap((limit) => addresses.map((address) => withLimit(address, limit)))
        .slice(0, manyPagesMax),
      animals: store.animals,
    };
  });
}

function withLimit(address: string, limit: number): string {
  return address.replace(/(?<=[?&]limit=)\d+/, String(limit));
}
