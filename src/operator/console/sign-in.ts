import Type from 'typebox';
import { AppError } from '../../errors.ts';
import { compileBody } from '../../http/bind-operation.ts';
import { jsonTypes } from '../../http/request/body.ts';
import { makeEmptyAnswer } from '../../http/response/answer.ts';
import type { Call, Route } from '../../http/route.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { readCookie, writeCookie } from './cookie.ts';
import { consolePath, type Site } from './hosts.ts';
import { apiRoute } from './operation.ts';

const SignIn = Type.Object({ token: Type.String({ minLength: 1, maxLength: 100, rule: 'must be a text' }) });

interface SignInOptions {
  readonly sessions: Sessions;
  readonly findSite: (host: string | undefined) => Site | null;
}

const badLink = new AppError(
  'session_missing',
  'this link was used before or is older than 10 minutes: run "animal-store console" for a new one',
);

/**
 * Creates two routes. `POST /console/api/sign-in` exchanges the token of a link for a session. `POST
 * /console/api/sign-out` ends the session.
 */
export function createSignInRoutes({ sessions, findSite }: SignInOptions): Route[] {
  /** Throws only after a programming error, because the gate has already refused every Host without a site. */
  function siteOf({ headers }: Call): Site {
    const site = findSite(headers.host);
    if (site === null) throw new Error('a route of the console was called for another Host');
    return site;
  }
  const setCookie = (call: Call, token: string) =>
    makeEmptyAnswer(204, {
      'cache-control': 'no-store',
      'set-cookie': writeCookie(siteOf(call), token),
    });

  return [
    {
      ...apiRoute,
      method: 'POST',
      path: `${consolePath}/api/sign-in`,
      access: 'visitor',
      body: compileBody(SignIn, jsonTypes.plain, false),
      async run(call) {
        const made = await sessions.signIn((call.body as { token: string }).token);
        if (made === null) throw badLink;
        return setCookie(call, made.token);
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
