import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { AnswerOf } from './api.ts';

export type Session = AnswerOf<'GET /session'>;

/** The session, for every component inside of its provider. */
export const SessionContext = createContext<Session | null>(null);

/** Returns the session. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('a page is shown without a session');
  return session;
}

/** Returns what the service declares: the statuses, scopes, plans and other lists that the pages show. */
export function useDeclared(): Session['declared'] {
  return useSession().declared;
}
