import { OperatorError } from '../errors.ts';
import { stringifyExactJson } from '../exact-json.ts';
import { toPrintable } from '../observability/safe-text.ts';
import type { LoadedPet } from '../pets/load-pets.ts';
import type { BadChanges } from '../pets/loaded-pets.ts';
import type { BadField } from '../pets/pet-files.ts';
import { countThings } from './output.ts';

type Verdict = BadField & { readonly line: number };

/** Maximum number of violations in the output as text, and in that for --json. */
const printedMax = 20;
const keptMax = 1_000;
const shownValueMax = 60;

/** Counts the rows of a file and those that are invalid, and keeps the first `keptMax` violations for the output. */
export function createRowCheck(skipInvalid: boolean) {
  let rowCount = 0;
  let badCount = 0;
  let total = 0;
  const kept: Verdict[] = [];

  function keep(violations: readonly Verdict[]): void {
    kept.push(...violations.slice(0, keptMax - kept.length));
  }

  function check(): void {
    if (skipInvalid || badCount === 0) return;
    const bad = `${badCount} of ${countThings(rowCount, 'row')} ${badCount === 1 ? 'is' : 'are'} invalid`;
    throw new OperatorError(`${bad}; --skip-invalid imports the others`);
  }

  return {
    refuse(line: number, violations: readonly BadField[]): void {
      rowCount += 1;
      badCount += 1;
      total += violations.length;
      keep(violations.map((violation) => ({ line, ...violation })));
    },
    /** Reports rows of `pass` that cannot change their animals, which is known only after all rows are read. */
    refuseChanges({ count, first }: BadChanges): void {
      badCount += count;
      total += count;
      keep(first);
    },
    check,
    /** Yields batches until a row is invalid. Then reads the others only to find all invalid rows, and throws. */
    async *pass(batches: AsyncIterable<readonly LoadedPet[]>) {
      for await (const pets of batches) {
        rowCount += pets.length;
        if (skipInvalid || badCount === 0) yield pets;
      }
      check();
    },
    countBad: () => badCount,
    isEmpty: () => rowCount === 0,
    /** Returns the first `printedMax` violations, one per line, and the number of further ones. */
    toText(): string {
      const more = total > printedMax ? `… and ${total - printedMax} more\n` : '';
      return kept.slice(0, printedMax).map(toLine).join('') + more;
    },
    /** Returns the first `keptMax` violations and the number of all violations, for --json. */
    toJson: () => ({ errors: kept, errorsTotal: total }),
  };
}

function toLine({ line, field, rule, ...rest }: Verdict): string {
  if (field === null) return `line ${line}: ${rule}\n`;
  const text = 'value' in rest ? stringifyExactJson(rest.value) : '';
  const shown = toPrintable(text.length <= shownValueMax ? text : `${text.slice(0, shownValueMax)}…`);
  return `line ${line}: ${field} ${rule}${shown && `, not ${shown}`}\n`;
}
