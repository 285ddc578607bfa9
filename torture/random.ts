/** Pseudo-random numbers that are the same for the same seed. */
export interface Random {
  /** From 0 up to but not including 1. */
  next(): number;
  /** A whole number from `min` to `max`, inclusive. */
  between(min: number, max: number): number;
  /** One of the choices, of which there must be at least one. */
  pick<T>(choices: readonly T[]): T;
}

/** Mulberry32 with 32 bits of state. It is good enough to choose moments and inputs, but not for secrets. */
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
