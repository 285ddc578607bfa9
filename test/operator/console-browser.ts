import { createSessions } from '../../src/operator/sessions.ts';
import { type Ending, startService } from '../support/service.ts';

/** A service with a console, and a client that sends the headers of a browser on the console's page. */
export type ConsoleService = Awaited<ReturnType<typeof startConsole>>;

export const ownPage = { 'sec-fetch-site': 'same-origin' };

export async function startConsole(test: Ending, settings: Record<string, string> = {}) {
  const service = await startService(test, settings);
  /** The sessions through a separate connection, as the command opens them. */
  const sessions = createSessions(service.store.database, service.clock.now);
  const consoleUrl = `${service.app.opsUrl}/console`;

  /** Sends a request to the console's API as its own page does. `path` is relative to the API. */
  function call(cookie: string | null, path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(ownPage);
    if (cookie !== null) headers.set('cookie', cookie);
    if (init.body !== undefined) headers.set('content-type', 'application/json');
    return fetch(`${consoleUrl}/api${path}`, { ...init, headers });
  }

  const makeLink = async (name = 'mira') => (await sessions.makeLink(name)).token;

  /** Exchanges the token of a link for a session and returns the answer. */
  const exchange = (token: string) =>
    call(null, '/sign-in', { method: 'POST', body: JSON.stringify({ token }) });

  /** Signs in and returns the cookie. A person who is not an operator has the shell, and is an admin. */
  async function signIn(name?: string): Promise<string> {
    const answer = await exchange(await makeLink(name));
    const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
    return cookie;
  }

  return { ...service, sessions, consoleUrl, call, makeLink, exchange, signIn };
}
