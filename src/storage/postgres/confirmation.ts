import type { Client, ClientBase } from 'pg';
import { storeUnavailable } from '../store-errors.ts';

/** The function of PostgreSQL in which a commit waits for the synchronous standby. Its notices come in any language. */
const waitingRoutine = 'SyncRepWaitForLSN';

/** The connections with a commit whose wait for the standby was cancelled (`pg_cancel_backend`). */
const unconfirmed = new WeakSet<ClientBase>();

/** Notes such a commit. PostgreSQL reports it as done, with a warning that the standby may lack it. */
export function noteCancelledWaits(client: Client): void {
  client.on('notice', ({ routine }) => {
    if (routine === waitingRoutine) unconfirmed.add(client);
  });
}

/** Throws AppError `unavailable` if the connection has such a commit, as for a commit whose answer is lost. */
export function requireConfirmed(client: ClientBase): void {
  if (unconfirmed.has(client))
    throw storeUnavailable(new Error('the wait of a commit for the synchronous standby was cancelled'));
}
