const schemeAndHost = /^https?:\/\/[^/?#]*/i;

/**
 * The path of a request's target as the router reads it: without scheme, host and query, and percent-decoded except for
 * reserved characters. Null if it cannot be decoded.
 */
export function readPath(target: string): string | null {
  const [path = ''] = target.replace(schemeAndHost, '').split(/[?#]/, 1);
  try {
    return decodeURI(path);
  } catch {
    return null;
  }
}
