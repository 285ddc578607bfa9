const numbers = new Intl.NumberFormat('en-US');

/** Returns a number with its noun: `1 animal`, `1,000,000 animals`. */
export function countThings(count: number, thing: string): string {
  return `${numbers.format(count)} ${thing}${count === 1 ? '' : 's'}`;
}
