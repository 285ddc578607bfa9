/** Maximum length of the URL of a webhook, in characters. */
export const urlLengthMax = 2_048;

/** Returns the rule of `isTargetUrl` as text. */
export function describeTargetUrl(allowsHttp: boolean): string {
  const scheme = allowsHttp ? 'an http or https URL' : 'an https URL';
  return `must be ${scheme} of at most ${urlLengthMax} characters, without a user, a password or a fragment`;
}

/**
 * Returns true if a webhook may have the URL (contract section 14). The IP address of its host is checked at each
 * attempt.
 */
export function isTargetUrl(text: string, allowsHttp: boolean): boolean {
  if (text.length > urlLengthMax || !/^https?:\/\/[!-~]+$/i.test(text)) return false;
  const url = URL.parse(text);
  if (url === null || url.hostname === '' || /[@\\]/.test(readAuthority(text)) || text.includes('#'))
    return false;
  return url.protocol === 'https:' || allowsHttp;
}

/** Returns the part between `//` and the path. */
function readAuthority(text: string): string {
  return /^https?:\/\/([^/?#]*)/i.exec(text)?.[1] ?? '';
}
