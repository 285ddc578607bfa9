import type { IncomingHttpHeaders } from 'node:http';
import Type from 'typebox';
import { secondMs } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { compileBody } from '../../http/bind-operation.ts';
import type { Exchange } from '../../http/exchange.ts';
import { type Gate, openGate } from '../../http/request/gate.ts';
import { makeEmptyAnswer } from '../../http/response/answer.ts';
import type { Call, Route } from '../../http/route.ts';
import { sessionMs } from '../session-changes.ts';
import { consolePath, type Sessions } from '../sessions.ts';
import { apiRoute, noStore } from './operation.ts';
import { type FindProxied, proxyId } from './proxy-user.ts';
import { createTokenGate } from './token-gate.ts';

interface Site {
  readonly origin: string;
  /** The path of the console in the browser. A proxy may change it. */
  readonly path: string;
}

const plainHost = /^[\w.-]+(?::\d{1,5})?$|^\[[\da-f:.]+\](?::\d{1,5})?$/i;
const loopback = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Finds the site of a Host: loopback, or that of `CONSOLE_URL`. Null for others prevents DNS rebinding. */
function findSite(host: string | undefined, consoleUrl: string | null): Site | null {
  if (host === undefined || !plainHost.test(host)) return null;
  const named = consoleUrl === null ? null : new URL(consoleUrl);
  if (named !== null && URL.parse(`${named.protocol}//${host}`)?.host === named.host)
    return { origin: named.origin, path: named.pathname };
  const url = URL.parse(`http://${host}`);
  return url !== null && loopback.test(url.hostname) ? { origin: url.origin, path: consolePath } : null;
}

/** True if a request comes from a page of the console. Checks the Fetch Metadata headers, or `Origin` without them. */
function isOwnRequest(headers: IncomingHttpHeaders, { origin }: Site): boolean {
  const fetchSite = headers['sec-fetch-site'];
  return fetchSite === undefined ? headers.origin === origin : fetchSite === 'same-origin';
}

/** Browsers send a host's cookies to all of its ports, so the name contains the port. */
function nameCookie({ origin }: Site): string {
  const { port, protocol } = new URL(origin);
  return `animal_store_console_${port || (protocol === 'https:' ? '443' : '80')}`;
}

/** Returns the token of the session cookie, or an empty string without a cookie. */
function readCookie({ cookie = '' }: IncomingHttpHeaders, site: Site): string {
  const start = `${nameCookie(site)}=`;
  const pairs = cookie.split(';').map((text) => text.trim());
  return pairs.find((text) => text.startsWith(start))?.slice(start.length) ?? '';
}

/** Returns a 204 that sets the cookie to the token of a session. An empty token deletes the cookie. */
function setCookie(site: Site, token: string) {
  const secure = site.origin.startsWith('https:') ? '; Secure' : '';
  const seconds = token === '' ? 0 : sessionMs / secondMs;
  const cookie = `${nameCookie(site)}=${token}; Path=${site.path}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
  return makeEmptyAnswer(204, [...noStore, 'set-cookie', cookie]);
}

const safeMethods: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD']);

const otherHost = new AppError(
  'host_refused',
  'Host: the console accepts only a loopback address such as 127.0.0.1, or CONSOLE_URL',
);
const otherOrigin = new AppError('origin_refused', 'changes are accepted only from the pages of the console');
const noSession = new AppError(
  'session_missing',
  'not signed in, or the session has expired: run "animal-store console" and open the link that it prints',
);
const badLink = new AppError(
  'session_missing',
  'this link was used before or is older than 10 minutes: run "animal-store console" for a new one',
);

/**
 * Admits requests to the operator's port:
 * - Every request for health and metrics is admitted.
 * - A request to the console needs the console's Host. An unsafe method must also come from the console's own pages.
 * - Except for public pages, a request to the console also needs the cookie of a session, or a person whom the proxy names.
 * - A request to the operator's API needs a token in its `Authorization` header. Nothing else of it counts.
 */
export function createConsoleGate(
  sessions: Pick<Sessions, 'find'>,
  consoleUrl: string | null,
  findProxied: FindProxied,
): Gate {
  const admitToken = createTokenGate(sessions);

  async function admit(exchange: Exchange): Promise<AppError | null> {
    const { access } = exchange.match;
    if (access === 'token') return admitToken(exchange);
    if (access !== 'visitor' && access !== 'console') return null;
    const { headers, method } = exchange.request;
    const site = findSite(headers.host, consoleUrl);
    if (site === null) return otherHost;
    if (!safeMethods.has(method) && !isOwnRequest(headers, site)) return otherOrigin;
    if (access === 'visitor') return null;
    exchange.signedIn =
      (await findProxied(exchange.request)) ?? (await sessions.find(readCookie(headers, site), 'session'));
    return exchange.signedIn === null ? noSession : null;
  }

  return { admit, confirm: admit, peek: openGate.peek };
}

const signInFields = { token: Type.String({ minLength: 1, maxLength: 100, rule: 'must be a text' }) };

interface SignInCall<Address extends string, Fields> {
  readonly address: Address;
  readonly fields: Fields;
  act(input: never, context: never): Promise<void>;
}

/** The calls of `createSignInRoutes`, as the pages make them. */
export type SignInOperation =
  | SignInCall<'POST /sign-in', typeof signInFields>
  | SignInCall<'POST /sign-out', Record<never, never>>;

/** Creates the routes that exchange the token of a link for a session, and that end the session. */
export function createSignInRoutes(sessions: Sessions, consoleUrl: string | null): Route[] {
  /** The gate has already refused every Host without a site. */
  const siteOf = ({ headers }: Call) => findSite(headers.host, consoleUrl) as Site;
  const route = { ...apiRoute, method: 'POST' } as const;
  return [
    {
      ...route,
      path: `${consolePath}/api/sign-in`,
      access: 'visitor',
      body: compileBody(Type.Object(signInFields)),
      async run(call) {
        const token = await sessions.signIn((call.body as { token: string }).token);
        if (token === null) throw badLink;
        return setCookie(siteOf(call), token);
      },
    },
    {
      ...route,
      path: `${consolePath}/api/sign-out`,
      access: 'console',
      async run(call) {
        if (call.signedIn !== null && call.signedIn.id !== proxyId) await sessions.signOut(call.signedIn);
        return setCookie(siteOf(call), '');
      },
    },
  ];
}
