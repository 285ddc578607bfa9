import { type Clock, dayMs } from '../clock.ts';
import { OperatorError } from '../errors.ts';
import { parseExactJson } from '../exact-json.ts';
import { int64Max } from '../int64.ts';
import type { Database } from '../storage/database.ts';
import type { Actor, AuditAction } from './act.ts';
import {
  type AuditFilter,
  type DeedRow,
  deleteOldDeeds,
  selectAccountId,
  selectDeeds,
} from './audit-rows.ts';

/** Time in ms for which the audit log keeps a row. */
export const auditKeptMs = 365 * dayMs;
/** Maximum number of rows that one statement deletes. */
const deletedRowsMax = 1_000;

/** The filters, the size and the start of a page. */
export interface AuditQuery {
  /** The name of an account. */
  readonly account?: string | undefined;
  /** A system user, the id of a console session, or the id of a key. A user includes their console sessions. */
  readonly actor?: string | undefined;
  readonly action?: AuditAction | undefined;
  /** Id of the changed object. For an account: its name. For an import: the file name. */
  readonly subject?: string | undefined;
  /** Unix milliseconds. */
  readonly sinceMs?: number | undefined;
  readonly limit: number;
  /** Id of the first row on the page. Absent or null: the page starts at the newest row. */
  readonly newestId?: bigint | null;
}

export interface AuditEntry {
  readonly id: bigint;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly actor: Actor;
  readonly action: string;
  readonly subject: string;
  /** The current name of the account; null if the changed object belongs to no account. */
  readonly account: string | null;
  readonly before: unknown;
  readonly after: unknown;
}

/** A page of the audit log. `nextId` is the `newestId` of the next page; null on the last page. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly nextId: bigint | null;
}

/** The audit log: who changed what, and when (contract section 16). */
export interface Audit {
  /** Returns a page, newest first. Throws OperatorError if the account does not exist. */
  list(query: AuditQuery): Promise<AuditPage>;
  /** Deletes rows older than `auditKeptMs`, in statements of at most `deletedRowsMax` rows. */
  sweep(): Promise<void>;
}

export function createAudit(database: Database, clock: Clock): Audit {
  async function findAccountId(name: string): Promise<bigint> {
    const [row] = await database.read(selectAccountId, { name });
    if (row === undefined)
      throw new OperatorError(`there is no account "${name}": "accounts list" shows all accounts`);
    return row.id;
  }

  return {
    async list({ account, actor, action, subject, sinceMs, limit, newestId }) {
      const filter: AuditFilter = {
        accountId: account === undefined ? null : await findAccountId(account),
        actor: actor ?? null,
        action: action ?? null,
        subject: subject ?? null,
        sinceMs: sinceMs === undefined ? null : BigInt(sinceMs),
      };
      const range = { newestId: newestId ?? int64Max, count: BigInt(limit) + 1n };
      const rows = await database.read(selectDeeds(filter), { ...filter, ...range });
      return { entries: rows.slice(0, limit).map(toEntry), nextId: rows[limit]?.id ?? null };
    },

    async sweep() {
      const step = { beforeMs: BigInt(clock() - auditKeptMs), count: BigInt(deletedRowsMax) };
      let deleted: number;
      do deleted = (await database.run(deleteOldDeeds, step)).length;
      while (deleted === deletedRowsMax);
    },
  };
}

function toEntry(row: DeedRow): AuditEntry {
  return {
    id: row.id,
    atMs: Number(row.at_ms),
    actor: { kind: row.actor_kind as Actor['kind'], name: row.actor },
    action: row.action,
    subject: row.subject,
    account: row.account,
    before: row.before === null ? null : parseExactJson(row.before),
    after: row.after === null ? null : parseExactJson(row.after),
  };
}
