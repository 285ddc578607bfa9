import { stringifyExactJson } from '../exact-json.ts';
import { toPrintable } from '../observability/safe-text.ts';
import type { BadField } from '../pets/pet-files.ts';

interface Verdict extends BadField {
  readonly line: number;
}

const printedMax = 20;
const keptMax = 1_000;
/** Number of characters after which a printed value is cut off. */
const shownValueMax = 60;

/**
 * Collects the invalid rows of a file. Counts all invalid rows, and keeps the first `keptMax` violations for the
 * output.
 */
export function createBadRows() {
  let rows = 0;
  let total = 0;
  const kept: Verdict[] = [];

  return {
    add(line: number, violations: readonly BadField[]): void {
      rows += 1;
      total += violations.length;
      for (const violation of violations) if (kept.length < keptMax) kept.push({ line, ...violation });
    },
    /** Returns the number of invalid rows. */
    count: () => rows,
    /**
     * Returns the first `printedMax` violations, one per line, and the number of further ones. Empty if there are none.
     */
    toText(): string {
      const lines = kept.slice(0, printedMax).map(toLine);
      if (total > printedMax) lines.push(`… and ${total - printedMax} more`);
      return lines.map((line) => `${line}\n`).join('');
    },
    /** Returns the first `keptMax` violations and the number of all violations, for --json. */
    toJson: () => ({ errors: kept, errorsTotal: total }),
  };
}

export type BadRows = ReturnType<typeof createBadRows>;

function toLine(verdict: Verdict): string {
  const { line, field, rule } = verdict;
  const value = 'value' in verdict ? `, not ${showValue(verdict.value)}` : '';
  return field === null ? `line ${line}: ${rule}` : `line ${line}: ${field} ${rule}${value}`;
}

function showValue(value: unknown): string {
  const text = stringifyExactJson(value);
  return toPrintable(text.length <= shownValueMax ? text : `${text.slice(0, shownValueMax)}…`);
}
