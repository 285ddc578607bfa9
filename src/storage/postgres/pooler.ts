import { OperatorError } from '../../errors.ts';

/**
 * Whether an address names a pooler in transaction mode (`?pgbouncer=transaction`). Then connections keep no prepared
 * statements, get no session settings, and receive no notices.
 */
export function isLentByTransaction(url: string): boolean {
  return new URL(url).searchParams.get('pgbouncer') === 'transaction';
}

/** Throws OperatorError of one line if `what` needs a session and the address names a pooler in transaction mode. */
export function requireSession(url: string, what: string): void {
  if (!isLentByTransaction(url)) return;
  throw new OperatorError(
    `${what} needs a session: name the server in DATABASE_URL, not a pooler in transaction mode`,
  );
}
