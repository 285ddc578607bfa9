import { userInfo } from 'node:os';
import { type Expression, type SqlBool, sql } from 'kysely';
import { type Clock, dayMs } from '../clock.ts';
import { parseExactJson, stringifyExactJson } from '../exact-json.ts';
import { byFilters, type Database, type RowOf, type Steps, statement, step } from '../storage/database.ts';
import { deletesOld } from '../storage/delete-old.ts';
import type { Dialect } from '../storage/dialect.ts';
import { blankField, eraseNext } from '../storage/erase.ts';
import { insertRow } from '../storage/insert-row.ts';
import { type Page, type PageQuery, type PageRange, readPage } from '../storage/read-page.ts';

/** The author of a change. `name` is that of `commandActor` or of `consoleActor`, or the id of a key. */
export interface Actor {
  readonly kind: 'command' | 'console' | 'key';
  readonly name: string;
}

/** Stands between the name and the session in the name of a console actor. */
const sessionMark = ' in ';
/** Stands between the system user and the claimed name in the name of a command's actor. */
const claimMark = ' as ';

/** `name` is that of the session or of the token of the operator's API. */
export function consoleActor(name: string, sessionId: string): Actor {
  return { kind: 'console', name: `${name}${sessionMark}${sessionId}` };
}

/** Returns the system user of this process as the actor, with the name that the user claims to act for, if any. */
export function commandActor(claimed: string | null = null): Actor {
  const user = readSystemUser();
  return { kind: 'command', name: claimed === null ? user : `${user}${claimMark}${claimed}` };
}

/** A user without a name is named by its user id. */
function readSystemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Returns the name of the person who runs this command: the one behind `sudo`, else the system user. */
export function readPerson({ SUDO_USER: person = '' }: Readonly<Record<string, string | undefined>>): string {
  return person === '' ? readSystemUser() : person;
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
  'account.exported',
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
  'console.link_made',
  'console.signed_in',
  'console.session_ended',
  'operator.added',
  'operator.removed',
  'operator.token_made',
  'operator.token_ended',
  'log.changed',
  'profile.taken',
  'store.backed_up',
  'store.restored',
  'store.vacuumed',
  'store.migrated',
] as const;

export type AuditAction = (typeof auditActions)[number];

export interface Authorship {
  readonly actor: Actor;
  /** Unix milliseconds. */
  readonly nowMs: number;
}

export interface Authored {
  readonly by: Authorship;
}

/** What changed, without secrets: JSON values. Null or absent: there is none. */
export interface AuditDetails {
  readonly accountId?: bigint | null;
  readonly before?: Readonly<Record<string, unknown>> | null;
  readonly after?: Readonly<Record<string, unknown>> | null;
}

/** Time in ms for which the audit log keeps a row. */
export const auditKeptMs = 365 * dayMs;

type Filter = {
  readonly accountId: bigint;
  /** A name, the id of a session, of a token or of a key. A name includes its sessions, and commands that claim it. */
  readonly actor: string;
  readonly action: AuditAction;
  readonly subject: string;
  readonly sinceMs: bigint;
  /** The page has only earlier rows. */
  readonly untilMs: bigint;
};

const filters = ['accountId', 'actor', 'action', 'subject', 'sinceMs', 'untilMs'] as const;

export type ListedAuditEntry = ReturnType<typeof toListed>;

const insertEntry = insertRow('audit', [
  'at_ms',
  'actor_kind',
  'actor',
  'action',
  'subject',
  'account_id',
  'before',
  'after',
]);

/** Adds a row to the audit log. Runs in the transaction of the change, so that both are stored or neither. */
export function* addAuditEntry(...entry: Parameters<typeof toRow>): Steps<void> {
  yield* step(insertEntry, toRow(...entry));
}

/**
 * `subject` is the id of the changed object, the name of an account, or the file name of an import, an export or a backup.
 */
function toRow(
  { actor, nowMs }: Authorship,
  action: AuditAction,
  subject: string,
  { accountId = null, before = null, after = null }: AuditDetails = {},
) {
  return {
    at_ms: BigInt(nowMs),
    actor_kind: actor.kind,
    actor: actor.name,
    action,
    subject,
    account_id: accountId,
    before: before === null ? null : stringifyExactJson(before),
    after: after === null ? null : stringifyExactJson(after),
  };
}

export type Audit = ReturnType<typeof createAudit>;

/** Creates the audit log of a store. `actor` is the author of the acts of this process. */
export function createAudit(database: Database, clock: Clock, actor: Actor = commandActor()) {
  return {
    /** Adds a row about an act of this process that changes nothing else in the store. */
    async record(
      action: AuditAction,
      subject: string,
      after: Readonly<Record<string, unknown>>,
      accountId: bigint | null = null,
    ): Promise<void> {
      const by = { actor, nowMs: clock() };
      await database.run(insertEntry, toRow(by, action, subject, { after, accountId }));
    },

    /** Returns a page, newest first. */
    list(query: PageQuery<Filter>): Promise<Page<ListedAuditEntry>> {
      return readPage(database, selectPage, query, toListed);
    },

    /** Returns the time of the last backup in Unix milliseconds, or null if the log has none. */
    async readLastBackup(): Promise<number | null> {
      const [row] = await database.read(selectLastBackup, {});
      return row === undefined ? null : Number(row.at_ms);
    },

    sweep: () => deleteOldEntries(database, clock() - auditKeptMs),
  };
}

/** Selects the time of the last backup. */
export const selectLastBackup = statement((query) =>
  query
    .selectFrom('audit')
    .select('at_ms')
    .where('action', '=', sql.lit('store.backed_up' satisfies AuditAction))
    .orderBy('id', 'desc')
    .limit(sql.lit(1)),
);

const selectPage = byFilters(filters, (query, p: Filter & PageRange, set) =>
  query
    .selectFrom('audit')
    .leftJoin('accounts', 'accounts.id', 'audit.account_id')
    .select(['audit.id', 'at_ms', 'actor_kind', 'actor', 'action', 'subject', 'before', 'after'])
    .select('accounts.name as account')
    .where('audit.id', '<=', p.newestId)
    .$if(set.accountId, (rows) => rows.where('account_id', '=', p.accountId))
    .$if(set.actor, (rows) => rows.where(isBy(p.actor)))
    .$if(set.action, (rows) => rows.where('action', '=', p.action))
    .$if(set.subject, (rows) => rows.where('subject', '=', p.subject))
    .$if(set.sinceMs, (rows) => rows.where('at_ms', '>=', p.sinceMs))
    .$if(set.untilMs, (rows) => rows.where('at_ms', '<', p.untilMs))
    .orderBy('audit.id', 'desc')
    .limit(p.count),
);

/** True for the rows of an actor. Of the two parts of a name with a mark, either matches. */
function isBy(actor: string): Expression<SqlBool> {
  const name = sql`cast(${actor} as text)`;
  const hasPart = (text: string) => {
    const mark = sql.lit(text);
    const isFirst = sql`substr(actor, 1, length(${name}) + length(${mark})) = ${name} || ${mark}`;
    const isLast = sql`substr(actor, length(actor) - length(${name}) - length(${mark}) + 1) = ${mark} || ${name}`;
    return sql`(${isFirst} or ${isLast})`;
  };
  return sql<SqlBool>`(actor = ${name}
    or (actor_kind = 'console' and ${hasPart(sessionMark)})
    or (actor_kind = 'command' and ${hasPart(claimMark)}))`;
}

const deleteOldEntries = deletesOld('audit', ['id'], 'at_ms', 'key');

function toListed(row: RowOf<typeof selectPage>) {
  return {
    id: row.id,
    /** Unix milliseconds. */
    atMs: Number(row.at_ms),
    actor: { kind: row.actor_kind as Actor['kind'], name: row.actor },
    action: row.action,
    subject: row.subject,
    /** The current name of the account; null if the changed object belongs to no account. */
    account: row.account,
    before: row.before === null ? null : parseExactJson(row.before),
    after: row.after === null ? null : parseExactJson(row.after),
  };
}

/** Blanks the names of an account and of its keys. The entries stay. */
export const eraseAuditNames = eraseNext('audit', (dialect) => ({
  subject: sql`case when action like 'account.%' then 'deleted-' || account_id else subject end`,
  before: blankNames(dialect, 'before'),
  after: blankNames(dialect, 'after'),
}));

/** Removes the names of the account and of its keys from a column of the audit log. */
function blankNames({ engine }: Dialect, column: 'before' | 'after') {
  return sql`case when action = 'account.renamed' then null
    when action like 'key.%' then ${blankField[engine](column, 'name')} else ${sql.ref(column)} end`;
}
