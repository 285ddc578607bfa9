import { createSessions, type Sessions } from '../../src/operator/sessions.ts';
import type { Ending } from '../support/service.ts';
import { startService, type TestService } from '../support/service.ts';

/** A service with a console, and a client that sends the headers of a browser on the console's page. */
export interface ConsoleService extends TestService {
  /** The sessions through a separate connection, as the command opens them. */
  readonly sessions: Sessions;
  /** The address of the console. */
  readonly consoleUrl: string;
  /** Creates a link and returns its token. */
  makeLink(): Promise<string>;
  /** Exchanges the token of a link for a session and returns the answer. */
  exchange(token: string, headers?: Record<string, string>): Promise<Response>;
  /** Signs in and returns the cookie. */
  signIn(): Promise<string>;
  /** Sends a request to the console's API as its own page does. `path` is relative to the API. */
  call(cookie: string | null, path: string, init?: RequestInit): Promise<Response>;
}

export const ownPage = { 'sec-fetch-site': 'same-origin' };

export async function startConsole(
  test: Ending,
  settings: Record<string, string> = {},
): Promise<ConsoleService> {
  const service = await startService(test, settings);
  const sessions = createSessions(service.store.database, service.clock.now);
  const consoleUrl = `${service.app.opsUrl}/console`;

  const call: ConsoleService['call'] = (cookie, path, init = {}) => {
    const headers = new Headers({ ...ownPage, ...(init.headers as Record<string, string>) });
    if (cookie !== null) headers.set('cookie', cookie);
    if (init.body !== undefined) headers.set('content-type', 'application/json');
    return fetch(`${consoleUrl}/api${path}`, { ...init, headers });
  };
  const makeLink = async () => (await sessions.makeLink('mira')).token;
  const exchange: ConsoleService['exchange'] = (token, headers = {}) =>
    call(null, '/sign-in', { method: 'POST', headers, body: JSON.stringify({ token }) });

  return {
    ...service,
    sessions,
    consoleUrl,
    call,
    makeLink,
    exchange,
    async signIn() {
      const answer = await exchange(await makeLink());
      const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
      return cookie;
    },
  };
}
