/** Maximum length of the URL of a webhook, in characters. */
export const urlLengthMax = 2_048;

/** The rule of `parseTargetUrl` as text. */
export const targetUrlRule = [
  `must be an https URL (in development also http) of at most ${urlLengthMax} printable ASCII characters,`,
  'with a valid host and port and without a user, a password or a fragment',
].join(' ');

const printableAscii = /^[!-~]+$/;

/**
 * The form of a URL with an authority right after `//`. A parser of URLs skips further slashes and backslashes there, so
 * `https:///user:secret@host/` would have a host and a password.
 */
const form = /^https?:\/\/[^/\\?#@]+(?:[/?][^#]*)?$/i;

/**
 * Parses the URL of a webhook. Returns null if a webhook may not have it. Store and request only the URL that is
 * returned, because another spelling can mean another target. The IP addresses of its host are checked at each attempt.
 */
export function parseTargetUrl(text: string, allowsHttp: boolean): URL | null {
  if (!printableAscii.test(text) || !form.test(text)) return null;
  const url = URL.parse(text);
  if (url === null || url.hostname === '') return null;
  if (url.username !== '' || url.password !== '') return null;
  // Node would take port 0 for the usual one.
  if (url.port === '0') return null;
  if (Math.max(text.length, url.href.length) > urlLengthMax) return null;
  return url.protocol === 'https:' || allowsHttp ? url : null;
}
