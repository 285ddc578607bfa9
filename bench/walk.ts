import { exchange, type RequestHeaders } from './exchange.ts';
import type { Walk } from './scenarios.ts';
import type { SeededStore } from './store.ts';
import { withKey } from './subjects.ts';
import { withService } from './with-service.ts';

const pagesMax = 4_096;
const manyPagesMax = 300_000;
const stepsMax = 10_000;
const limitMax = 100;
const pageSize = 20;
/** Limits with a mean of 20. Each cursor is combined with every limit to get many different pages. */
const limits = Array.from({ length: 2 * pageSize - 9 }, (_, index) => index + 5);

/** Walks a whole store by `Link` headers, as a client would, and builds page addresses from the cursors. */
export function walkPages(folder: string, store: SeededStore): Promise<Walk> {
  return withService(folder, store, (origin) => walkService(origin, withKey(store), store.animals));
}

/** Walks the store of a running service that has `animals` animals, in at most `pagesWalkedMax` pages if possible. */
export async function walkService(
  origin: string,
  headers: RequestHeaders,
  animals: number,
  pagesWalkedMax = stepsMax,
): Promise<Walk> {
  const step = Math.min(limitMax, Math.max(1, Math.ceil(animals / pagesWalkedMax)));
  const addresses: string[] = [];
  let path: string | undefined = `/v1/pets?limit=${step}`;
  while (path !== undefined) {
    addresses.push(path);
    const answer = await exchange(origin, { method: 'GET', path }, headers);
    path = /<([^>]+)>; rel="next"/.exec(String(answer.headers['link']))?.[1];
  }
  const every = Math.ceil(addresses.length / pagesMax);
  return {
    pages: addresses.filter((_, index) => index % every === 0).map((address) => withLimit(address, pageSize)),
    manyPages: limits
      .flatMap((limit) => addresses.map((address) => withLimit(address, limit)))
      .slice(0, manyPagesMax),
    animals,
  };
}

function withLimit(address: string, limit: number): string {
  return address.replace(/(?<=[?&]limit=)\d+/, String(limit));
}
