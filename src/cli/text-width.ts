const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Characters that terminals draw two columns wide: wide scripts, fullwidth forms and emoji. */
const wide =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|\ufe0f/u;
/** Halfwidth forms are one column wide in every script. */
const halfwidth = /^[\uff61-\uffdc]/;
/** Combining marks without a base character. */
const unseen = /^\p{M}+$/u;
const ascii = /^[ -~]*$/;

/** Estimates how many columns a printable text takes on a terminal. */
export function measureWidth(text: string): number {
  if (ascii.test(text)) return text.length;
  return Array.from(segmenter.segment(text), ({ segment }) => measureGrapheme(segment)).reduce(
    (sum, width) => sum + width,
    0,
  );
}

function measureGrapheme(grapheme: string): number {
  if (unseen.test(grapheme)) return 0;
  return wide.test(grapheme) && !halfwidth.test(grapheme) ? 2 : 1;
}
