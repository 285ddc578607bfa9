/** A generator of pseudo-random numbers. The same seed gives the same sequence. */
export interface Random {
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  next(): number;
  /** Returns a whole number from `min` to `max`, both inclusive. */
  between(min: number, max: number): number;
  /** Returns one of the choices. Throws RangeError if there are none. */
  pick<T>(choices: readonly T[]): T;
}

/** Creates a Mulberry32 generator with 32 bits of state. It is not suitable for secrets. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const between = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    between,
    pick<T>(choices: readonly T[]): T {
      if (choices.length === 0) throw new RangeError('there is nothing to choose from');
      return choices[between(0, choices.length - 1)] as T;
    },
  };
}
