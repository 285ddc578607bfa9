/** Who changes something: the system user of a command, a session of the console, or a key, both by their ids. */
export interface Actor {
  readonly kind: 'command' | 'console' | 'key';
  readonly name: string;
}

/** The actions in the audit log. */
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

/** One of `auditActions`. */
export type AuditAction = (typeof auditActions)[number];

/** Who does something and when, in Unix milliseconds. */
export interface Act {
  readonly actor: Actor;
  readonly nowMs: number;
}

/** One change. `before` and `after` are JSON values and never contain a secret. */
export interface Deed {
  readonly action: AuditAction;
  /** The id of the changed object; for an account its name, for an import the file name. */
  readonly subject: string;
  /** The account of the object, if it has one. */
  readonly accountId: bigint | null;
  /** Null for a new object. */
  readonly before: Readonly<Record<string, unknown>> | null;
  /** Null for a deleted object. */
  readonly after: Readonly<Record<string, unknown>> | null;
}
