import { type Expression, type SqlBool, sql } from 'kysely';
import { type Statement, statement } from '../storage/database.ts';
import { sessionMark } from './act.ts';

export const insertDeed = statement<{
  atMs: bigint;
  actorKind: string;
  actor: string;
  action: string;
  subject: string;
  accountId: bigint | null;
  before: string | null;
  after: string | null;
}>()((query, p) =>
  query.insertInto('audit').values({
    at_ms: p.atMs,
    actor_kind: p.actorKind,
    actor: p.actor,
    action: p.action,
    subject: p.subject,
    account_id: p.accountId,
    before: p.before,
    after: p.after,
  }),
);

/** Null means no filter. A type alias, because an interface is not assignable to `Parameters`. */
export type AuditFilter = {
  readonly accountId: bigint | null;
  readonly actor: string | null;
  readonly action: string | null;
  readonly subject: string | null;
  /** Unix milliseconds. */
  readonly sinceMs: bigint | null;
};

export interface DeedRow {
  readonly id: bigint;
  readonly at_ms: bigint;
  readonly actor_kind: string;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly account: string | null;
  readonly before: string | null;
  readonly after: string | null;
}

type PageParameters = AuditFilter & { newestId: bigint; count: bigint };

const pages = new Map<string, Statement<PageParameters, DeedRow>>();

/** Returns the statement that selects a page, newest first. Each combination of filters has its own statement. */
export function selectDeeds(filter: AuditFilter): Statement<PageParameters, DeedRow> {
  const name = Object.values(filter)
    .map((value) => value !== null)
    .join();
  const statementOfFilters = pages.get(name) ?? buildPage(filter);
  pages.set(name, statementOfFilters);
  return statementOfFilters;
}

function buildPage(filter: AuditFilter): Statement<PageParameters, DeedRow> {
  const isSet = (name: keyof AuditFilter) => filter[name] !== null;
  return statement<PageParameters>()((query, p) =>
    query
      .selectFrom('audit')
      .select(['id', 'at_ms', 'actor_kind', 'actor', 'action', 'subject', 'before', 'after'])
      .select(({ selectFrom }) =>
        selectFrom('accounts')
          .select('accounts.name')
          .whereRef('accounts.id', '=', 'audit.account_id')
          .as('account'),
      )
      .where('id', '<=', p.newestId)
      .$if(isSet('accountId'), (narrowed) => narrowed.where('account_id', '=', p.accountId))
      .$if(isSet('actor'), (narrowed) => narrowed.where(isBy(p.actor)))
      .$if(isSet('action'), (narrowed) => narrowed.where('action', '=', sql<string>`${p.action}`))
      .$if(isSet('subject'), (narrowed) => narrowed.where('subject', '=', sql<string>`${p.subject}`))
      .$if(isSet('sinceMs'), (narrowed) => narrowed.where('at_ms', '>=', sql<bigint>`${p.sinceMs}`))
      .orderBy('id', 'desc')
      .limit(p.count),
  );
}

/** True for the rows of an actor. For a row of the console, either its user or its session matches. */
function isBy(actor: string | null): Expression<SqlBool> {
  const name = sql`cast(${actor} as text)`;
  const mark = sql.lit(sessionMark);
  const isUser = sql`substr(actor, 1, length(${name}) + length(${mark})) = ${name} || ${mark}`;
  const isSession = sql`substr(actor, length(actor) - length(${name}) - length(${mark}) + 1) = ${mark} || ${name}`;
  return sql<SqlBool>`(actor = ${name} or (actor_kind = 'console' and (${isUser} or ${isSession})))`;
}

export const selectAccountId = statement<{ name: string }>()((query, p) =>
  query.selectFrom('accounts').select('id').where('name', '=', p.name),
);

/** Checks the `count` oldest rows, deletes those before `beforeMs`, and returns the deleted ids. */
export const deleteOldDeeds = statement<{ beforeMs: bigint; count: bigint }>()((query, p) =>
  query
    .deleteFrom('audit')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('audit').select('audit.id').orderBy('audit.id').limit(p.count),
    )
    .where('at_ms', '<', p.beforeMs)
    .returning('id'),
);
