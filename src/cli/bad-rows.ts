import { stringifyExactJson } from '../exact-json.ts';
import { toPrintable } from '../observability/printable.ts';
import type { BadField } from '../pets/pet-import.ts';

/** The rows of a file that break a rule. It counts all, and keeps a bounded number to show. */
export interface BadRows {
  add(line: number, violations: readonly BadField[]): void;
  /** The number of bad rows. */
  count(): number;
  /** The first verdicts, one a line, and the number of the others; empty without bad rows. */
  toText(): string;
  /** The first verdicts and the number of all, for --json. */
  toJson(): { readonly errors: readonly Verdict[]; readonly errorsTotal: number };
}

interface Verdict extends BadField {
  readonly line: number;
}

const printedMax = 20;
const keptMax = 1_000;
/** How many characters of a value are printed. */
const shownValueMax = 60;

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

function toLine(verdict: Verdict): string {
  const { line, field, rule } = verdict;
  const value = 'value' in verdict ? `, not ${showValue(verdict.value)}` : '';
  return field === null ? `line ${line}: ${rule}` : `line ${line}: ${field} ${rule}${value}`;
}

function showValue(value: unknown): string {
  const text = stringifyExactJson(value);
  return toPrintable(text.length <= shownValueMax ? text : `${text.slice(0, shownValueMax)}…`);
}
