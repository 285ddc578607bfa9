import type { IncomingHttpHeaders } from 'node:http';

/** An address under which a browser has reached the console. */
export interface Site {
  /** The origin of its pages. */
  readonly origin: string;
  /** The path of the console, as the browser sees it. */
  readonly path: string;
}

/** The path of the console on its port. */
export const consolePath = '/console';
const plainHost = /^[\w.-]+(?::\d{1,5})?$|^\[[\da-f:.]+\](?::\d{1,5})?$/i;
const loopback = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/**
 * Finds the site of the console that a Host header names: a loopback address or the host of `CONSOLE_URL`. Any other host
 * gives null, which prevents DNS rebinding.
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

/** Whether a request comes from a page of the console itself, by its Fetch Metadata or else its Origin. */
export function isOwnRequest(headers: IncomingHttpHeaders, { origin }: Site): boolean {
  const fetchSite = headers['sec-fetch-site'];
  return fetchSite === undefined ? headers.origin === origin : fetchSite === 'same-origin';
}
