const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** What terminals draw two columns wide: the scripts and forms that Unicode calls wide, and pictures. */
const wide =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|\ufe0f/u;
/** Halfwidth forms are narrow, whatever their script. */
const halfwidth = /^[\uff61-\uffdc]/;
/** A mark that stands on nothing. */
const unseen = /^\p{M}+$/u;
const ascii = /^[ -~]*$/;

/** How many columns a printable text takes on a terminal, as near as that can be told without asking it. */
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
