/** How many characters of lines wait while the output takes none. */
export const waitingCharactersMax = 2 ** 20;

/** A stream, as far as it is used here. */
export interface LineOutput {
  write(text: string, done: (error?: Error | null) => void): unknown;
}

/** The destination of a pino logger, which calls `flush` on request and `flushSync` after a fatal line. */
export interface LineBuffer {
  write(line: string): void;
  /** Writes the gathered lines now, unless a write is under way. */
  flush(): void;
  /** Writes the gathered lines now, even if a write is under way: the process ends. */
  flushSync(): void;
  /** How many lines were dropped since the start. */
  countDropped(): number;
}

/**
 * Gathers the lines of one turn of the event loop into one write. Only one write is under way at a time. While the reader
 * stalls, up to `waitingCharactersMax` wait behind that write, and further lines are dropped. The lines of a write that
 * fails count as dropped, too. `onDropped` gets their number after the next write that succeeds.
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
