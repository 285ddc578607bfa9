/** What a terminal would obey or hide instead of showing it: controls, formats, surrogates, line separators. */
const unprintable = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A text in one line that does nothing to a terminal: what is unprintable is written out, as in `\u{1b}`. */
export function toPrintable(text: string): string {
  return text.replace(unprintable, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
