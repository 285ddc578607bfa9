import { keyEnvironments } from '../accounts/api-key.ts';

/** A character in either case, plain or percent-encoded any number of times. */
function encoded(character: string): string {
  const codes = [character, character.toUpperCase()].map((one) => one.charCodeAt(0).toString(16));
  return `(?:${character}|%(?:25)*(?:${codes.join('|')}))`;
}

const spell = (text: string) => [...text].map(encoded).join('');

/** Matches more of a key than its visible start, in any spelling: mistyped, encoded, or followed by another key. */
const keyText = new RegExp(
  `${spell('as_')}(?:${keyEnvironments.map((name) => `(${spell(name)})`).join('|')})${spell('_')}[0-9a-z_%]{5,}`,
  'gi',
);

/** Matches every text that `keyText` matches, and is cheap: nearly all texts hold no key. */
const suspicious = /as_|%/i;

/**
 * Makes every API key in a text unreadable. Each source of text that a client controls calls it before it logs or shows
 * that text.
 */
export function redactKeys(text: string): string {
  if (!suspicious.test(text)) return text;
  return text.replace(keyText, (_key, ...found: unknown[]) => {
    const environment = keyEnvironments.find((_name, place) => found[place] !== undefined);
    return `as_${environment}_[redacted]`;
  });
}
