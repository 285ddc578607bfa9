/** The most ids of a scenario that sends each id once. */
export const manyIdsMax = 400_000;
/** A small number, so that the warm-up requests every id and fills the cache. */
const randomIdsMax = 4_096;

/** Returns distinct ids from 1 to `animals` in random order. Every run gets the same ids. */
export function randomIds(animals: number, most = randomIdsMax): number[] {
  const count = Math.min(animals, most);
  return shuffle(Array.from({ length: count }, (_, index) => Math.floor((index * animals) / count) + 1));
}

/** Shuffles items in the same way in every run, with Park and Miller's generator. */
export function shuffle<T>(items: readonly T[]): T[] {
  let state = 20_301_205;
  const keyed = items.map((item) => {
    state = (state * 48_271) % 2_147_483_647;
    return { item, place: state };
  });
  return keyed.sort((a, b) => a.place - b.place).map(({ item }) => item);
}
