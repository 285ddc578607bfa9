import type { Connection } from 'pg';

/** A sign-in that proves that both ends use the same TLS connection, so nobody relays it. */
const boundMechanism = 'SCRAM-SHA-256-PLUS';

/**
 * Ends a connection whose server does not sign it in with channel binding, before it gets the password in another way.
 * The driver binds if the server offers it, and checks the proof of the server.
 */
export function requireChannelBinding(connection: Connection): void {
  let isBound = false;
  const refuse = () =>
    connection.stream.destroy(
      new Error('the server offers no channel binding, as channel_binding=require needs'),
    );

  // These listeners run before those of the driver, which come with the call to connect.
  connection.on('authenticationSASL', ({ mechanisms }: { readonly mechanisms: readonly string[] }) => {
    if (!mechanisms.includes(boundMechanism)) refuse();
  });
  connection.on('authenticationCleartextPassword', refuse);
  connection.on('authenticationMD5Password', refuse);
  connection.on('authenticationSASLFinal', () => {
    isBound = true;
  });
  connection.on('authenticationOk', () => {
    if (!isBound) refuse();
  });
}
