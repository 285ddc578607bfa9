/**
 * The strikes of a key in one short text: for each millisecond the distance to the one before it (the first to the
 * epoch), with `x` and the number of requests where there was more than one: `1760000000000x3 12 5x2`.
 */
export function formatStrikes(strikes: ReadonlyMap<number, number>): string {
  let beforeMs = 0;
  const words: string[] = [];
  for (const [atMs, count] of strikes) {
    words.push(count === 1 ? `${atMs - beforeMs}` : `${atMs - beforeMs}x${count}`);
    beforeMs = atMs;
  }
  return words.join(' ');
}

/** The strikes of a text that `formatStrikes` made, in the order of time. */
export function parseStrikes(text: string): Map<number, number> {
  const strikes = new Map<number, number>();
  let atMs = 0;
  for (const word of text.split(' ')) {
    if (word === '') continue;
    const [distanceMs, count = '1'] = word.split('x');
    atMs += Number(distanceMs);
    strikes.set(atMs, Number(count));
  }
  return strikes;
}
