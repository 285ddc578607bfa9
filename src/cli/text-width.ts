const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Matches characters that terminals draw two columns wide: East Asian scripts, fullwidth forms and emoji. */
const wide =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|\ufe0f/u;
/** Matches halfwidth forms, which are one column wide in every script. */
const halfwidth = /^[\uff61-\uffdc]/;
/** Matches combining marks without a base character, which take no column. */
const unseen = /^\p{M}+$/u;
const ascii = /^[ -~]*$/;

/** Returns the estimated width of a printable text in terminal columns. */
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
