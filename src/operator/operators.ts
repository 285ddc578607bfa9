import { sql } from 'kysely';
import type { Authored, Authorship } from '../audit/audit-log.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import { OperatorError } from '../errors.ts';
import { int64Max } from '../int64.ts';
import type { Role } from '../operator-role.ts';
import { isOperatorName, operatorNameRule } from '../operator-role.ts';
import { type Database, type RowOf, type Steps, statement, step, transaction } from '../storage/database.ts';
import { toPage } from '../storage/read-page.ts';

/**
 * Adds an operator. Links and sessions that a person with the shell has under this name become the operator's, so that they have
 * its role and end with it. Throws OperatorError if there is an operator with this name.
 */
export const addOperator = transaction(
  'addOperator',
  'row locks',
  function* ({ name, role, by }: Authored & { readonly name: string; readonly role: Role }): Steps<void> {
    const row = { name, role, created_at_ms: BigInt(by.nowMs) };
    const added = yield* step(insertOperator, row);
    if (added.length === 0)
      throw new OperatorError(`there is an operator "${name}" already: remove it first to change its role`);
    // The links first: one that is exchanged at this moment is a session when its row is free.
    yield* step(adoptLinks, { name });
    yield* step(adoptSessions, { name });
    yield* addAuditEntry(by, 'operator.added', name, { after: { role } });
  },
);

/**
 * Removes an operator with its links, sessions and tokens. Throws OperatorError if there is none with this name, or if it is the
 * only admin and no person with the shell removes it.
 */
export const removeOperator = transaction(
  'removeOperator',
  'serializable',
  function* ({ name, by }: Authored & { readonly name: string }): Steps<void> {
    const [removed] = yield* step(deleteOperator, { name });
    if (removed === undefined) throw noOperator(name);
    const isLimited = by.actor.kind === 'console' && removed.role === 'admin';
    if (isLimited && (yield* step(selectAdmin, {})).length === 0)
      throw new OperatorError(
        `"${name}" is the only admin: add another one first, or run "operators remove ${name}" on the machine of the service`,
      );
    yield* addAuditEntry(by, 'operator.removed', name, { before: { role: removed.role } });
  },
);

export function noOperator(name: string): OperatorError {
  return new OperatorError(`there is no operator "${name}": "operators list" shows all operators`);
}

/** A session of the console, which a cookie proves, or a token of the operator's API. */
export type SessionKind = 'session' | 'token';

export type ListedOperator = ReturnType<typeof toListed>;

/** The operators of the store. Their sessions and tokens are in sessions.ts. */
export function createOperators(database: Database, clock: Clock, actor: Authorship['actor']) {
  const byNow = (): Authorship => ({ actor, nowMs: clock() });
  const now = () => BigInt(clock());
  return {
    /** Returns all operators, by name. */
    list: async () =>
      (await database.read(selectOperators, { first: '', nowMs: now(), count: int64Max })).map(toListed),
    /** Returns a page of the operators, by name, from the name `first` on. */
    async listPage(limit: number, first: string) {
      const rows = await database.read(selectOperators, { first, nowMs: now(), count: BigInt(limit + 1) });
      return toPage(rows, limit, toListed);
    },
    /** Throws OperatorError if the name is not valid or taken. */
    async add(name: string, role: Role): Promise<void> {
      if (!isOperatorName(name)) throw new OperatorError(`the name of an operator ${operatorNameRule}`);
      await database.transact(addOperator, { name, role, by: byNow() });
    },
    remove: (name: string) => database.transact(removeOperator, { name, by: byNow() }),
    /** Returns the role of an operator, or null if there is none with this name. */
    async findRole(name: string): Promise<Role | null> {
      const [row] = await database.read(selectOperator, { name });
      return row === undefined ? null : (row.role as Role);
    },
  };
}

export type Operators = ReturnType<typeof createOperators>;

function toListed({ name, role, created_at_ms: atMs, sessions, tokens }: RowOf<typeof selectOperators>) {
  return {
    name,
    role: role as Role,
    createdAtMs: Number(atMs),
    sessions: Number(sessions),
    tokens: Number(tokens),
  };
}

const insertOperator = statement((query, p: { name: string; role: string; created_at_ms: bigint }) =>
  query
    .insertInto('operators')
    .values(p)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning('name'),
);

const adopt = (table: 'console_links' | 'console_sessions') =>
  statement((query, p: { name: string }) =>
    query
      .updateTable(table)
      .set({ operator: p.name })
      .where('made_by', '=', p.name)
      .where('operator', 'is', null)
      .returning('made_by'),
  );
const adoptLinks = adopt('console_links');
const adoptSessions = adopt('console_sessions');

const deleteOperator = statement((query, p: { name: string }) =>
  query.deleteFrom('operators').where('name', '=', p.name).returning('role'),
);

const selectAdmin = statement((query, _: Record<never, never>) =>
  query.selectFrom('operators').select('name').where('role', '=', sql.lit('admin')).limit(sql.lit(1)),
);

const selectOperator = statement((query, p: { name: string }) =>
  query.selectFrom('operators').select('role').where('name', '=', p.name),
);

/** Returns a subquery with the number of sessions or of tokens of the operator in the row that have not expired. */
const countOf = (kind: SessionKind, nowMs: bigint) =>
  sql<bigint>`(select count(*) from console_sessions
    where operator = operators.name and kind = ${sql.lit(kind)} and expires_at_ms > ${nowMs})`;

const selectOperators = statement((query, p: { first: string; nowMs: bigint; count: bigint }) =>
  query
    .selectFrom('operators')
    .select(['name as id', 'name', 'role', 'created_at_ms'])
    .where('name', '>=', p.first)
    .select([countOf('session', p.nowMs).as('sessions'), countOf('token', p.nowMs).as('tokens')])
    .orderBy('name')
    .limit(p.count),
);
