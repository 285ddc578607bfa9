import { AppError } from '../../errors.ts';
import type { Exchange } from '../../http/exchange.ts';
import { type Admission, type Gate, openGate } from '../../http/request/admission.ts';
import { after, type Soon } from '../../soon.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { readCookie } from './cookie.ts';
import { isOwnRequest, type Site } from './hosts.ts';

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
 * Admits requests to the operator's port (contract section 16):
 * - Every request for health and metrics is admitted.
 * - A request to the console needs the console's Host. An unsafe method must also come from the console's own pages.
 * - Except for public pages, a request to the console also needs the cookie of a session.
 */
export function createConsoleGate(
  sessions: Pick<Sessions, 'find'>,
  findSite: (host: string | undefined) => Site | null,
): Gate {
  function admit({ request, match: { access } }: Exchange): Soon<Admission> {
    if (access !== 'visitor' && access !== 'console') return passed;
    const { headers, method } = request;
    const site = findSite(headers.host);
    if (site === null) return refuse(otherHost);
    if (!safeMethods.has(method) && !isOwnRequest(headers, site)) return refuse(otherOrigin);
    if (access === 'visitor') return passed;
    return after(sessions.find(readCookie(headers, site)), (session) =>
      session === null ? refuse(noSession) : { ...passed, signedIn: session },
    );
  }

  return {
    admit,
    confirm: (exchange) => after(admit(exchange), ({ refusal }) => refusal),
    peek: openGate.peek,
  };
}

const passed: Admission = { caller: null, limit: null, usage: null, refusal: null };

function refuse(refusal: AppError): Admission {
  return { ...passed, refusal };
}
