const schemeAndHost = /^https?:\/\/[^/?#]*/i;

/**
 * Returns the path of a request target as the router sees it: without scheme, host and query, and percent-decoded
 * except for reserved characters. Returns null if the path cannot be decoded.
 */
export function readPath(target: string): string | null {
  const [path = ''] = target.replace(schemeAndHost, '').split(/[?#]/, 1);
  try {
    return decodeURI(path);
  } catch {
    return null;
  }
}
