/** The author of a change. `name` is the system user of a command, the id of a console session, or the id of a key. */
export interface Actor {
  readonly kind: 'command' | 'console' | 'key';
  readonly name: string;
}

export const auditActions = [
  'account.created',
  'account.renamed',
  'account.plan_changed',
  'account.suspended',
  'account.resumed',
  'key.created',
  'key.rotated',
  'key.revoked',
  'ban.lifted',
  'pet.changed',
  'pet.deleted',
  'pets.imported',
  'category.changed',
  'category.deleted',
  'order.cancelled',
  'order.returned',
  'webhook.enabled',
  'webhook.disabled',
  'webhook.replayed',
] as const;

export type AuditAction = (typeof auditActions)[number];

/** The author and the time of a change. */
export interface Act {
  readonly actor: Actor;
  readonly nowMs: number;
}

/** A change, as the audit log records it. `before` and `after` are JSON values and never contain a secret. */
export interface Deed {
  readonly action: AuditAction;
  /** Id of the changed object. For an account: its name. For an import: the file name. */
  readonly subject: string;
  /** The account that the object belongs to; null if there is none. */
  readonly accountId: bigint | null;
  /** Null for a new object. */
  readonly before: Readonly<Record<string, unknown>> | null;
  /** Null for a deleted object. */
  readonly after: Readonly<Record<string, unknown>> | null;
}
