import { keyEnvironments } from '../accounts/api-key.ts';

/** Returns a pattern for a character in either case, plain or percent-encoded any number of times. */
function encoded(character: string): string {
  const codes = [character, character.toUpperCase()].map((one) => one.charCodeAt(0).toString(16));
  return `(?:${character}|%(?:25)*(?:${codes.join('|')}))`;
}

const spell = (text: string) => [...text].map(encoded).join('');

/** A key, or its beginning beyond the visible start. It may be mistyped, percent-encoded or followed by other text. */
const keyText = new RegExp(
  `${spell('as_')}(?:${keyEnvironments.map((name) => `(${spell(name)})`).join('|')})${spell('_')}[0-9a-z_%]{5,}`,
  'gi',
);

/** A cheap first check. It matches every text that `keyText` matches, and few others. */
const suspicious = /as_|%/i;

/** Redacts every API key in a text. Text from a client must pass through this function before it is logged or shown. */
export function redactKeys(text: string): string {
  if (!suspicious.test(text)) return text;
  return text.replace(keyText, (_key, ...found: unknown[]) => {
    const environment = keyEnvironments.find((_name, place) => found[place] !== undefined);
    return `as_${environment}_[redacted]`;
  });
}

/** Characters that a terminal interprets or hides: control, format and private-use ones, surrogates, line separators. */
const unprintable = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Escapes unprintable characters, as in `\u{1b}`. The result is one line and safe to print on a terminal. */
export function toPrintable(text: string): string {
  return text.replace(unprintable, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Redacts keys and escapes unprintable characters. The result may be logged, stored and printed. */
export function toSafeText(text: string): string {
  return redactKeys(toPrintable(text));
}

/** Escapes unprintable characters of a JSON text as JSON can, so that it means the same. Line breaks stay. */
export function toPrintableJson(json: string): string {
  return json.replace(unprintable, (character) => (character === '\n' ? character : escapeUnits(character)));
}

function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
