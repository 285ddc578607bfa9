/**
 * Formats the strikes of a key in a short text, such as `1760000000000x3 12 5x2`. Each word is a millisecond, as the
 * distance to the one before it (the first from the epoch). `x` and a number follow if it has more than one request.
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

/** Parses a text of `formatStrikes`. The strikes are in the order of time. */
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
