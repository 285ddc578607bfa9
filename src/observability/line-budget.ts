/** Limits the number of log lines per second. Counts the omitted lines. */
export interface LineBudget {
  /**
   * Returns null if the next line must be omitted. Otherwise, returns the number of lines omitted since the last
   * written line.
   */
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
