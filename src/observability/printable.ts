/**
 * Matches characters that a terminal interprets or hides: control, format and private-use characters, surrogates and
 * line separators.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Escapes unprintable characters, as in `\u{1b}`. The result is one line and safe to print on a terminal. */
export function toPrintable(text: string): string {
  return text.replace(unprintable, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
