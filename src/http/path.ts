const schemeAndHost = /^https?:\/\/[^/?#]*/i;

/**
 * The path that a request's target names, as the router reads it: without scheme, host and query, and with its
 * percent-encoding taken off but for reserved characters. Null where it cannot be read.
 */
export function readPath(target: string): string | null {
  const [path = ''] = target.replace(schemeAndHost, '').split(/[?#]/, 1);
  try {
    return decodeURI(path);
  } catch {
    return null;
  }
}
