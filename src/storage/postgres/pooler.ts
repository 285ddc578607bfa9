import { OperatorError } from '../../errors.ts';
import { readPostgresParameters } from '../../postgres-address.ts';

/**
 * Returns true if an address names a pooler in transaction mode (`?pgbouncer=transaction`). Connections through such
 * a pooler have no prepared statements, no session settings and no notices.
 */
export function isLentByTransaction(url: string): boolean {
  return readPostgresParameters(url).get('pgbouncer') === 'transaction';
}

/**
 * Throws OperatorError of one line if the address names a pooler in transaction mode. `what` is the operation that
 * needs a session.
 */
export function requireSession(url: string, what: string): void {
  if (!isLentByTransaction(url)) return;
  throw new OperatorError(
    `${what} needs a session: set DATABASE_URL to the server, not to a pooler in transaction mode`,
  );
}
