/** Maximum number of characters of log lines that wait for the output. */
export const waitingCharactersMax = 2 ** 20;

/** The part of a stream that `bufferLines` uses. */
export interface LineOutput {
  readonly writableLength: number;
  write(text: string, done: (error?: Error | null) => void): unknown;
}

/**
 * Returns a destination of a pino logger, which writes the lines of one turn of the event loop together. While the
 * reader stalls, at most `waitingCharactersMax` characters wait. Further lines are dropped. Lines of a failed write
 * count as dropped. When everything is written, `onDropped` gets the number of lines dropped since its last call.
 */
export function bufferLines(output: LineOutput, onDropped: (count: number) => void) {
  let text = '';
  let lines = 0;
  let dropped = 0;
  let reported = 0;

  function flush(): void {
    if (lines === 0) return;
    const [batch, count] = [text, lines];
    text = '';
    lines = 0;
    output.write(batch, (error) => settle(error, count));
  }

  function settle(error: Error | null | undefined, count: number): void {
    if (error) dropped += count;
    else if (dropped > reported && output.writableLength === 0) {
      const unreported = dropped - reported;
      reported = dropped;
      onDropped(unreported);
    }
  }

  return {
    write(line: string): void {
      if (text.length >= waitingCharactersMax) flush();
      if (text.length + output.writableLength >= waitingCharactersMax) {
        dropped += 1;
        return;
      }
      if (lines === 0) setImmediate(flush);
      text += line;
      lines += 1;
    },
    /** Pino calls this on request. */
    flush,
    /** Pino calls this after a fatal line, because the process is about to end. */
    flushSync: flush,
    /** Returns the number of lines dropped since the start. */
    countDropped: () => dropped,
  };
}

/**
 * Limits the number of log lines per second. The returned function returns null if the next line must be omitted.
 * Otherwise, it returns the number of lines omitted since the last written line.
 */
export function createLineBudget(
  perSecondMax: number,
  elapsedMs = () => performance.now(),
): () => number | null {
  let second = -1;
  let spent = 0;
  let omitted = 0;
  return () => {
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
  };
}
