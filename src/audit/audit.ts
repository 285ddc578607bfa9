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

/** How long a row of the audit log is kept. */
export const auditKeptMs = 365 * dayMs;
/** How many rows one statement deletes. */
const deletedRowsMax = 1_000;

/** The filters and the place of a page. */
export interface AuditQuery {
  /** The name of an account. */
  readonly account?: string | undefined;
  /** A system user, a session of the console, or the id of a key. */
  readonly actor?: string | undefined;
  readonly action?: AuditAction | undefined;
  /** The id of the changed object; for an account its name. */
  readonly subject?: string | undefined;
  /** Unix milliseconds. */
  readonly sinceMs?: number | undefined;
  readonly limit: number;
  /** The first row of the page; absent for the newest row. */
  readonly newestId?: bigint | null;
}

/** A row of the audit log. */
export interface AuditEntry {
  readonly id: bigint;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly actor: Actor;
  readonly action: string;
  readonly subject: string;
  /** The current name of its account; null if it has none. */
  readonly account: string | null;
  readonly before: unknown;
  readonly after: unknown;
}

/** A page of the audit log, and the id that starts the next one; null on the last page. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly nextId: bigint | null;
}

/** The audit log: who changed what, and when (contract section 16). */
export interface Audit {
  /** A page, newest first. Throws OperatorError if there is no such account. */
  list(query: AuditQuery): Promise<AuditPage>;
  /** Deletes rows older than `auditKeptMs`, a bounded number in each statement. */
  sweep(): Promise<void>;
}

export function createAudit(database: Database, clock: Clock): Audit {
  async function findAccountId(name: string): Promise<bigint> {
    const [row] = await database.read(selectAccountId, { name });
    if (row === undefined)
      throw new OperatorError(`there is no account "${name}": "accounts list" shows them all`);
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
