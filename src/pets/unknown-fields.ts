/** A name is near another if it takes at most one edit for each of so many characters to make one of the other. */
const charactersPerEdit = 4;

/**
 * Returns the rule that unknown columns or fields break. Names each of them, and the known name that it resembles.
 * `what` is `column` or `field`.
 */
export function describeUnknown(
  what: 'column' | 'field',
  unknown: readonly string[],
  known: readonly string[],
): string {
  const named = unknown.map((name) => {
    const near = findNear(name, known);
    return `"${name}"${near === null ? '' : ` (did you mean "${near}"?)`}`;
  });
  const are = unknown.length === 1 ? `the ${what} ${named} is` : `the ${what}s ${named.join(', ')} are`;
  return `${are} not known; known ${what}s are ${known.join(', ')}, and --ignore-unknown ignores others`;
}

function findNear(name: string, known: readonly string[]): string | null {
  const plain = toPlain(name);
  return known.find((one) => countEdits(plain, toPlain(one)) <= plain.length / charactersPerEdit) ?? null;
}

/** Ignores case, spaces and punctuation: `Category ID` resembles `categoryId`. */
function toPlain(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** The Levenshtein distance of two texts. */
function countEdits(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (const [row, letter] of [...one].entries()) {
    const current = [row + 1];
    for (const [column, otherLetter] of [...other].entries()) {
      const replaced = (above[column] ?? 0) + (letter === otherLetter ? 0 : 1);
      current.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    above = current;
  }
  return above.at(-1) ?? 0;
}
