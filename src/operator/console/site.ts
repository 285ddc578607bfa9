import type { IncomingHttpHeaders } from 'node:http';
import { secondMs } from '../../clock.ts';
import { sessionMs } from '../sessions.ts';

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
 * Returns the site for a Host header: a loopback address or the host of `CONSOLE_URL`. Returns null for any other host,
 * which prevents DNS rebinding.
 */
export type FindSite = (host: string | undefined) => Site | null;

export function createSiteFinder(consoleUrl: string | null): FindSite {
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

/** Browsers send a host's cookies to all of its ports, so the name contains the port. */
function nameCookie({ origin }: Site): string {
  const { port, protocol } = new URL(origin);
  return `animal_store_console_${port || (protocol === 'https:' ? '443' : '80')}`;
}

/** Returns the token of the session cookie, or an empty string without a cookie. */
export function readCookie({ cookie = '' }: IncomingHttpHeaders, site: Site): string {
  const start = `${nameCookie(site)}=`;
  const pair = cookie
    .split(';')
    .map((text) => text.trim())
    .find((text) => text.startsWith(start));
  return pair?.slice(start.length) ?? '';
}

/**
 * Returns the `Set-Cookie` value for the token of a session. An empty token deletes the cookie. Scripts cannot read the
 * cookie.
 */
export function writeCookie(site: Site, token: string): string {
  const secure = site.origin.startsWith('https:') ? '; Secure' : '';
  const seconds = token === '' ? 0 : sessionMs / secondMs;
  return `${nameCookie(site)}=${token}; Path=${site.path}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}
