import Type from 'typebox';
import { AppError } from '../../errors.ts';
import { compileBody } from '../../http/bind-operation.ts';
import type { Exchange } from '../../http/exchange.ts';
import { type Gate, openGate } from '../../http/request/gate.ts';
import { makeEmptyAnswer } from '../../http/response/answer.ts';
import type { Call, Route } from '../../http/route.ts';
import type { Sessions } from '../sessions.ts';
import { apiRoute } from './operation.ts';
import { consolePath, type FindSite, isOwnRequest, readCookie, type Site, writeCookie } from './site.ts';

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

/**
 * Admits requests to the operator's port:
 * - Every request for health and metrics is admitted.
 * - A request to the console needs the console's Host. An unsafe method must also come from the console's own pages.
 * - Except for public pages, a request to the console also needs the cookie of a session.
 */
export function createConsoleGate(sessions: Pick<Sessions, 'find'>, findSite: FindSite): Gate {
  async function admit(exchange: Exchange): Promise<AppError | null> {
    const { access } = exchange.match;
    if (access !== 'visitor' && access !== 'console') return null;
    const { headers, method } = exchange.request;
    const site = findSite(headers.host);
    if (site === null) return otherHost;
    if (!safeMethods.has(method) && !isOwnRequest(headers, site)) return otherOrigin;
    if (access === 'visitor') return null;
    exchange.signedIn = await sessions.find(readCookie(headers, site));
    return exchange.signedIn === null ? noSession : null;
  }

  return { admit, confirm: admit, peek: openGate.peek };
}

const SignIn = Type.Object({ token: Type.String({ minLength: 1, maxLength: 100, rule: 'must be a text' }) });

const badLink = new AppError(
  'session_missing',
  'this link was used before or is older than 10 minutes: run "animal-store console" for a new one',
);

/**
 * Creates two routes. `POST /console/api/sign-in` exchanges the token of a link for a session. `POST
 * /console/api/sign-out` ends the session.
 */
export function createSignInRoutes(sessions: Sessions, findSite: FindSite): Route[] {
  /** The gate has already refused every Host without a site. */
  const siteOf = ({ headers }: Call) => findSite(headers.host) as Site;
  const setCookie = (call: Call, token: string) =>
    makeEmptyAnswer(204, ['cache-control', 'no-store', 'set-cookie', writeCookie(siteOf(call), token)]);

  return [
    {
      ...apiRoute,
      method: 'POST',
      path: `${consolePath}/api/sign-in`,
      access: 'visitor',
      body: compileBody(SignIn),
      async run(call) {
        const token = await sessions.signIn((call.body as { token: string }).token);
        if (token === null) throw badLink;
        return setCookie(call, token);
      },
    },
    {
      ...apiRoute,
      method: 'POST',
      path: `${consolePath}/api/sign-out`,
      access: 'console',
      async run(call) {
        await sessions.signOut(readCookie(call.headers, siteOf(call)));
        return setCookie(call, '');
      },
    },
  ];
}
