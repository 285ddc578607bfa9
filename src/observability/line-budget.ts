/** Limits the log lines of a second, and counts the omitted ones. */
export interface LineBudget {
  /** Null to omit this line. Otherwise write it, with the number of lines omitted since the last one. */
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
