/**
 * Formats the strikes of a key as a short text, such as `1760000000000x3 12 5x2`. Each word is one millisecond with
 * strikes. Its number is the distance in ms from the previous word. The first number is Unix milliseconds. `x3` means
 * three strikes in that millisecond.
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

/** Parses a text from `formatStrikes`. The strikes are in the order of time. */
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
