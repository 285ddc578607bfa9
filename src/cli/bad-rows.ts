import type { Violation } from '../schema.ts';

/** The rules that the rows of a file break: all are counted, a bounded number is kept to be shown. */
export interface BadRows {
  add(line: number, violations: readonly Violation[]): void;
  /** How many rows are bad. */
  count(): number;
  /** The first verdicts for people, one a line, and how many more there are; empty if there is none. */
  toText(): string;
  /** The first verdicts for programs, and the number of all. */
  toJson(): { readonly errors: readonly Verdict[]; readonly errorsTotal: number };
}

interface Verdict extends Violation {
  readonly line: number;
}

const printedMax = 20;
const keptMax = 1_000;

export function createBadRows(): BadRows {
  let rows = 0;
  let total = 0;
  const kept: Verdict[] = [];

  return {
    add(line, violations) {
      rows += 1;
      total += violations.length;
      for (const violation of violations) if (kept.length < keptMax) kept.push({ line, ...violation });
    },
    count: () => rows,
    toText() {
      const lines = kept.slice(0, printedMax).map(toLine);
      if (total > printedMax) lines.push(`… and ${total - printedMax} more`);
      return lines.map((line) => `${line}\n`).join('');
    },
    toJson: () => ({ errors: kept, errorsTotal: total }),
  };
}

function toLine({ line, field, rule }: Verdict): string {
  return field === null ? `line ${line}: ${rule}` : `line ${line}: ${field} ${rule}`;
}
