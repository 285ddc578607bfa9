import type { IncomingHttpHeaders } from 'node:http';
import { secondMs } from '../../clock.ts';
import { sessionMs } from '../sessions/sessions.ts';
import type { Site } from './hosts.ts';

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
