/** The maximum number of log lines for a fault under any load. The log may be on the same full disk. */
const linesMax = 200;

/** Returns the number of lines of a log. Throws if there are too many, or if one has a stack trace. */
export function requireFewLines(log: string): number {
  const lines = log.trimEnd().split('\n');
  const traced = lines.find((line) => line.includes('"stack"') || /^\s+at /.test(line));
  if (traced !== undefined) throw new Error(`the log has a stack trace: ${traced.slice(0, 500)}`);
  if (lines.length > linesMax) throw new Error(`the log has ${lines.length} lines, such as ${lines.at(-1)}`);
  return lines.length;
}
