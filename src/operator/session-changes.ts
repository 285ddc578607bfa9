import { sql } from 'kysely';
import { type Authored, addAuditEntry, consoleActor } from '../audit/audit-log.ts';
import { hourMs, minuteMs } from '../clock.ts';
import { OperatorError } from '../errors.ts';
import { int64Max } from '../int64.ts';
import { type Steps, statement, step, transaction } from '../storage/database.ts';
import { insertRow } from '../storage/insert-row.ts';
import { noOperator, type SessionKind } from './operators.ts';

/** Time in ms after which a link to the console expires. */
export const linkMs = 10 * minuteMs;
/** Time in ms after which a pass for a profile expires. */
const passMs = minuteMs;
/** Time in ms after which a session expires. */
export const sessionMs = 12 * hourMs;
interface NewLink extends Authored {
  readonly tokenHash: Uint8Array;
  readonly name: string;
  /** True if the name must be that of an operator. Else a person with the shell may have it, who is an admin. */
  readonly isNamed: boolean;
}

/** Stores a link. Throws OperatorError if the name must be that of an operator and is not. */
export const addLink = transaction(
  'addLink',
  'row locks',
  function* ({ tokenHash, name, isNamed, by }: NewLink): Steps<void> {
    const [operator] = yield* step(selectOperatorName, { name });
    if (operator === undefined && isNamed) throw noOperator(name);
    yield* step(insertLink, {
      token_hash: tokenHash,
      made_by: name,
      operator: operator?.name ?? null,
      expires_at_ms: BigInt(by.nowMs + linkMs),
    });
    yield* addAuditEntry(by, 'console.link_made', name);
  },
);

export const profilePath = '/ops/profile';
/** Maximum length of a CPU profile. A connection without a byte is closed after 40 s. */
export const profileSecondsMax = 30;

export const profileKinds = ['cpu', 'heap'] as const;
/** What a profile is of: the CPU for some seconds, or the heap at this moment. */
export type ProfileKind = (typeof profileKinds)[number];

interface NewPass extends Authored {
  readonly tokenHash: Uint8Array;
  readonly kind: ProfileKind;
}

/** Stores a pass for one profile of the process. It is a row of the links, but its hash is that of no link. */
export const addPass = transaction(
  'addPass',
  'row locks',
  function* ({ tokenHash, kind, by }: NewPass): Steps<void> {
    yield* step(insertLink, {
      token_hash: tokenHash,
      made_by: by.actor.name,
      operator: null,
      expires_at_ms: BigInt(by.nowMs + passMs),
    });
    yield* addAuditEntry(by, 'profile.taken', kind);
  },
);

/** Deletes a pass. Returns false if it is used, expired or unknown. */
export const takePass = transaction(
  'takePass',
  'row locks',
  function* ({
    tokenHash,
    nowMs,
  }: {
    readonly tokenHash: Uint8Array;
    readonly nowMs: number;
  }): Steps<boolean> {
    const [pass] = yield* step(takeLink, { tokenHash });
    return pass !== undefined && pass.expires_at_ms > BigInt(nowMs);
  },
);

interface SignIn {
  readonly linkHash: Uint8Array;
  readonly tokenHash: Uint8Array;
  readonly id: string;
  readonly nowMs: number;
}

/** Exchanges a link for a session in one transaction. Returns false if the link is used, expired or unknown. */
export const openSession = transaction(
  'openSession',
  'row locks',
  function* ({ linkHash, tokenHash, id, nowMs }: SignIn) {
    const [link] = yield* step(takeLink, { tokenHash: linkHash });
    if (link === undefined || link.expires_at_ms <= BigInt(nowMs)) return false;
    const kind = 'session';
    const expiresAtMs = nowMs + sessionMs;
    yield* step(insertSession, toRow({ ...link, tokenHash, id, kind, nowMs, expiresAtMs }));
    yield* addAuditEntry({ actor: consoleActor(link.made_by, id), nowMs }, 'console.signed_in', id);
    return true;
  },
);

interface NewToken extends Authored {
  readonly tokenHash: Uint8Array;
  readonly id: string;
  readonly name: string;
  readonly expiresAtMs: number;
}

/** Stores a token of the operator's API. Throws OperatorError if there is no operator with this name. */
export const addToken = transaction(
  'addToken',
  'row locks',
  function* ({ tokenHash, id, name, expiresAtMs, by }: NewToken): Steps<void> {
    const [operator] = yield* step(selectOperatorName, { name });
    if (operator === undefined) throw noOperator(name);
    const { nowMs } = by;
    const owner = { made_by: name, operator: name };
    yield* step(insertSession, toRow({ ...owner, tokenHash, id, kind: 'token', nowMs, expiresAtMs }));
    const after = { token: id, expiresAt: new Date(expiresAtMs).toISOString() };
    yield* addAuditEntry(by, 'operator.token_made', name, { after });
  },
);

/** Ends one session or token. Throws OperatorError if there is none with this id. */
export const endSession = transaction(
  'endSession',
  'row locks',
  function* ({ id, by }: Authored & { readonly id: string }): Steps<void> {
    const [ended] = yield* step(deleteSession, { id });
    if (ended === undefined)
      throw new OperatorError(`there is no session or token "${id}": "console --list" shows all of them`);
    const action = ended.kind === 'token' ? 'operator.token_ended' : 'console.session_ended';
    yield* addAuditEntry(by, action, id, { before: { name: ended.made_by } });
  },
);

/** Deletes all sessions of the console and all links. Returns the number of deleted sessions. */
export const endAllSessions = transaction(
  'endAllSessions',
  'row locks',
  function* ({ by }: Authored): Steps<number> {
    yield* step(deleteLinks, { untilMs: int64Max });
    const ended = yield* step(deleteAllSessions, {});
    yield* addAuditEntry(by, 'console.session_ended', 'all', { before: { sessions: ended.length } });
    return ended.length;
  },
);

/** Deletes the sessions, tokens and links that expire at `untilMs` or earlier. Returns the number of the first two. */
export const endSessions = transaction(
  'endSessions',
  'row locks',
  function* (untilMs: bigint): Steps<number> {
    yield* step(deleteLinks, { untilMs });
    const ended = yield* step(deleteSessions, { untilMs });
    return ended.length;
  },
);

interface SessionValues {
  readonly tokenHash: Uint8Array;
  readonly id: string;
  readonly kind: SessionKind;
  readonly made_by: string;
  readonly operator: string | null;
  readonly nowMs: number;
  readonly expiresAtMs: number;
}

function toRow({ tokenHash, id, kind, made_by, operator, nowMs, expiresAtMs }: SessionValues) {
  return {
    token_hash: tokenHash,
    id,
    kind,
    made_by,
    operator,
    created_at_ms: BigInt(nowMs),
    expires_at_ms: BigInt(expiresAtMs),
  };
}

const selectOperatorName = statement((query, p: { name: string }) =>
  query.selectFrom('operators').select('name').where('name', '=', p.name),
);

const insertLink = insertRow('console_links', ['token_hash', 'made_by', 'operator', 'expires_at_ms']);

/** Deletes a link and returns it. Of several concurrent callers, only one gets the row. */
const takeLink = statement((query, p: { tokenHash: Uint8Array }) =>
  query
    .deleteFrom('console_links')
    .where('token_hash', '=', p.tokenHash)
    .returning(['made_by', 'operator', 'expires_at_ms']),
);

const insertSession = insertRow('console_sessions', [
  ...(['token_hash', 'id', 'kind', 'made_by', 'operator', 'created_at_ms', 'expires_at_ms'] as const),
]);

const deleteSession = statement((query, p: { id: string }) =>
  query.deleteFrom('console_sessions').where('id', '=', p.id).returning(['made_by', 'kind']),
);

const deleteAllSessions = statement((query, _: Record<never, never>) =>
  query.deleteFrom('console_sessions').where('kind', '=', sql.lit('session')).returning('id'),
);

const deleteExpired = (table: 'console_links' | 'console_sessions') =>
  statement((query, p: { untilMs: bigint }) =>
    query.deleteFrom(table).where('expires_at_ms', '<=', p.untilMs).returning('made_by'),
  );
const deleteLinks = deleteExpired('console_links');
const deleteSessions = deleteExpired('console_sessions');
