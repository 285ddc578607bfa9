import type { IncomingHttpHeaders } from 'node:http';

/** An address under which browsers reach the console. */
export interface Site {
  /** The origin of the console's pages. */
  readonly origin: string;
  /** The path of the console in the browser. A proxy may change it. */
  readonly path: string;
}

/** The path of the console on the operator's port. */
export const consolePath = '/console';
const plainHost = /^[\w.-]+(?::\d{1,5})?$|^\[[\da-f:.]+\](?::\d{1,5})?$/i;
const loopback = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/**
 * Returns a function that finds the site for a Host header. It accepts a loopback address and the host of
 * `CONSOLE_URL`. It returns null for any other host, which prevents DNS rebinding.
 */
export function createSiteFinder(consoleUrl: string | null): (host: string | undefined) => Site | null {
  const named = consoleUrl === null ? null : new URL(consoleUrl);

  return (host) => {
    if (host === undefined || !plainHost.test(host)) return null;
    if (named !== null && URL.parse(`${named.protocol}//${host}`)?.host === named.host)
      return { origin: named.origin, path: named.pathname };
    const url = URL.parse(`http://${host}`);
    return url !== null && loopback.test(url.hostname) ? { origin: url.origin, path: consolePath } : null;
  };
}

/** True if a request comes from a page of the console. Checks the Fetch Metadata headers, or `Origin` without them. */
export function isOwnRequest(headers: IncomingHttpHeaders, { origin }: Site): boolean {
  const fetchSite = headers['sec-fetch-site'];
  return fetchSite === undefined ? headers.origin === origin : fetchSite === 'same-origin';
}
