/** Characters that a terminal interprets or hides: controls, formats, surrogates, line separators. */
const unprintable = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Escapes unprintable characters as in `\u{1b}`, so that the text is one line and safe on a terminal. */
export function toPrintable(text: string): string {
  return text.replace(unprintable, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
