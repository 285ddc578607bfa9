import { userInfo } from 'node:os';

/** The author of a change. `name` is the system user of a command, `consoleActor`, or the id of a key. */
export interface Actor {
  readonly kind: 'command' | 'console' | 'key';
  readonly name: string;
}

/** Stands between the user and the session in the name of a console actor. */
export const sessionMark = ' in ';

/** The author of a change in the console: the system user who created the sign-in link, and the id of the session. */
export function consoleActor(user: string, sessionId: string): Actor {
  return { kind: 'console', name: `${user}${sessionMark}${sessionId}` };
}

/** Returns the system user of this process as the actor. A user without a name is named by its user id. */
export function commandActor(): Actor {
  return { kind: 'command', name: readUser() };
}

function readUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

export const auditActions = [
  'account.created',
  'account.renamed',
  'account.plan_changed',
  'account.limits_set',
  'account.limits_reset',
  'account.suspended',
  'account.resumed',
  'account.deleted',
  'key.created',
  'key.rotated',
  'key.revoked',
  'ban.lifted',
  'pet.added',
  'pet.changed',
  'pet.deleted',
  'pets.imported',
  'pets.exported',
  'category.changed',
  'category.deleted',
  'order.cancelled',
  'order.returned',
  'orders.exported',
  'webhook.enabled',
  'webhook.disabled',
  'webhook.replayed',
  'webhook.sent',
  'console.signed_in',
  'store.backed_up',
  'store.restored',
] as const;

export type AuditAction = (typeof auditActions)[number];

/** The author and the time of a change. */
export interface Authorship {
  readonly actor: Actor;
  /** Unix milliseconds. */
  readonly nowMs: number;
}

/** A change, as the audit log records it. `before` and `after` are JSON values and never contain a secret. */
export interface AuditEntry {
  readonly action: AuditAction;
  /** Id of the changed object. For an account: its name. For an import, an export or a backup: the file name. */
  readonly subject: string;
  /** The account that the object belongs to; null if there is none. */
  readonly accountId: bigint | null;
  /** Null for a new object. */
  readonly before: Readonly<Record<string, unknown>> | null;
  /** Null for a deleted object. */
  readonly after: Readonly<Record<string, unknown>> | null;
}
