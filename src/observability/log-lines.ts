/** Maximum number of characters of log lines that wait for the output. */
export const waitingCharactersMax = 2 ** 20;

/** The part of a stream that `bufferLines` uses. */
export interface LineOutput {
  write(text: string, done: (error?: Error | null) => void): unknown;
}

/** The destination of a pino logger. Pino calls `flush` on request and `flushSync` after a fatal line. */
export interface LineBuffer {
  write(line: string): void;
  /** Writes the buffered lines now, unless a write is running. */
  flush(): void;
  /** Writes the buffered lines now, even if a write is running, because the process is about to end. */
  flushSync(): void;
  /** Returns the number of lines dropped since the start. */
  countDropped(): number;
}

/**
 * Writes the lines of one turn of the event loop together. Only one write runs at a time. While the reader stalls, at
 * most `waitingCharactersMax` characters are buffered. Further lines are dropped. Lines of a failed write count as
 * dropped. After the next successful write, `onDropped` gets the number of lines dropped since its last call.
 */
export function bufferLines(output: LineOutput, onDropped: (count: number) => void): LineBuffer {
  let text = '';
  let lines = 0;
  let isScheduled = false;
  let isWriting = false;
  let dropped = 0;
  let reported = 0;

  function settle(error: Error | null | undefined, count: number): void {
    isWriting = false;
    if (error) {
      dropped += count;
    } else if (dropped > reported) {
      const unreported = dropped - reported;
      reported = dropped;
      onDropped(unreported);
    }
    flush();
  }

  function flush(): void {
    if (isWriting || lines === 0) return;
    const [batch, count] = [text, lines];
    text = '';
    lines = 0;
    isWriting = true;
    output.write(batch, (error) => settle(error, count));
  }

  function endTurn(): void {
    isScheduled = false;
    flush();
  }

  return {
    write(line) {
      if (text.length >= waitingCharactersMax) flush();
      if (text.length >= waitingCharactersMax) {
        dropped += 1;
        return;
      }
      text += line;
      lines += 1;
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(endTurn);
    },
    flush,
    flushSync() {
      isWriting = false;
      flush();
    },
    countDropped: () => dropped,
  };
}

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
