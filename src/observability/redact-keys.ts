import { keyEnvironments } from '../accounts/api-key.ts';

/** A pattern for a character in either case, plain or percent-encoded any number of times. */
function encoded(character: string): string {
  const codes = [character, character.toUpperCase()].map((one) => one.charCodeAt(0).toString(16));
  return `(?:${character}|%(?:25)*(?:${codes.join('|')}))`;
}

const spell = (text: string) => [...text].map(encoded).join('');

/**
 * Matches any text that has more of a key than its visible start: also mistyped, encoded, or followed by another key.
 */
const keyText = new RegExp(
  `${spell('as_')}(?:${keyEnvironments.map((name) => `(${spell(name)})`).join('|')})${spell('_')}[0-9a-z_%]{5,}`,
  'gi',
);

/** A cheap pre-check. It matches every text that `keyText` matches, and few others. */
const suspicious = /as_|%/i;

/** Redacts every API key in a text. Each source of text from a client calls it before it logs or shows the text. */
export function redactKeys(text: string): string {
  if (!suspicious.test(text)) return text;
  return text.replace(keyText, (_key, ...found: unknown[]) => {
    const environment = keyEnvironments.find((_name, place) => found[place] !== undefined);
    return `as_${environment}_[redacted]`;
  });
}
