/** How many lines the log of a fault may have, whatever the load: it may go to a disk that is full, too. */
const linesMax = 200;

/** Gives the number of lines of a log. Throws where there are more than anyone reads, or one has a stack trace. */
export function requireFewLines(log: string): number {
  const lines = log.trimEnd().split('\n');
  const traced = lines.find((line) => line.includes('"stack"') || /^\s+at /.test(line));
  if (traced !== undefined) throw new Error(`the log has a stack trace: ${traced.slice(0, 500)}`);
  if (lines.length > linesMax) throw new Error(`the log has ${lines.length} lines, as ${lines.at(-1)}`);
  return lines.length;
}
