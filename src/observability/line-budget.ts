/** Lets a bounded number of lines a second into the log, and counts those that were left out. */
export interface LineBudget {
  /** Null where the line is to be left out; else how many were since the last one that was not. */
  spend(): number | null;
}

export function createLineBudget(perSecondMax: number, elapsedMs = () => performance.now()): LineBudget {
  let second = -1;
  let spent = 0;
  let omitted = 0;
  return {
    spend() {
      const now = Math.floor(elapsedMs() / 1_000);
      if (now !== second) spent = 0;
      second = now;
      spent += 1;
      if (spent > perSecondMax) {
        omitted += 1;
        return null;
      }
      const before = omitted;
      omitted = 0;
      return before;
    },
  };
}
