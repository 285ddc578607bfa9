import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Config } from '../../config.ts';
import { listed } from '../../http/request/client-address.ts';
import type { SignedIn } from '../../http/route.ts';
import { isOperatorName, type Role } from '../../operator-role.ts';

/** The settings of a proxy that signs people in. All are null if there is none. */
export type ProxySettings = Pick<Config, 'consoleUserHeader' | 'consoleUserPeers' | 'consoleUserSecret'>;

/** Returns the person whom the proxy names in a request, or null if no trusted proxy names one. */
export type FindProxied = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => Promise<SignedIn | null>;

/** The header in which the proxy sends CONSOLE_USER_SECRET. */
export const secretHeader = 'x-console-secret';
/** Stands for the id of a session in the audit log. */
export const proxyId = 'proxy';

/**
 * Reads the person whom a proxy has signed in. The header counts only in a request that comes directly from a listed peer
 * and has the secret, so that neither a client nor another process of the machine can name a person.
 */
export function createProxyUser(
  { consoleUserHeader, consoleUserPeers, consoleUserSecret }: ProxySettings,
  findRole: (name: string) => Promise<Role | null>,
): FindProxied {
  if (consoleUserHeader === null || consoleUserPeers === null || consoleUserSecret === null)
    return async () => null;
  const isPeer = listed(consoleUserPeers);
  const secret = Buffer.from(consoleUserSecret);

  return async ({ headers, socket }) => {
    const name = headers[consoleUserHeader];
    const sent = Buffer.from(String(headers[secretHeader] ?? ''));
    const isTrusted = isPeer(socket.remoteAddress ?? '') && isSame(sent, secret);
    if (!isTrusted || typeof name !== 'string' || !isOperatorName(name)) return null;
    return { id: proxyId, name, role: await findRole(name) };
  };
}

function isSame(sent: Buffer, secret: Buffer): boolean {
  return sent.length === secret.length && timingSafeEqual(sent, secret);
}
