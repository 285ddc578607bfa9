import { hash, randomBytes } from 'node:crypto';
import { addAuditEntry, consoleActor } from '../audit/audit-log.ts';
import { type Clock, hourMs, minuteMs } from '../clock.ts';
import type { SignedIn } from '../http/route.ts';
import { int64Max } from '../int64.ts';
import { randomText } from '../random-text.ts';
import { type Database, type Steps, statement, step, transaction } from '../storage/database.ts';
import { insertRow } from '../storage/insert-row.ts';

export const consolePath = '/console';
/** Time in ms after which a link to the console expires. */
const linkMs = 10 * minuteMs;
/** Time in ms after which a session expires. */
export const sessionMs = 12 * hourMs;
/** A token of 256 random bits cannot be guessed. */
const tokenBytes = 32;
const tokenText = /^[\w-]{43}$/;

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
    const createdAtMs = BigInt(nowMs);
    if (link === undefined || link.expires_at_ms <= createdAtMs) return false;
    yield* step(insertSession, {
      token_hash: tokenHash,
      id,
      made_by: link.made_by,
      created_at_ms: createdAtMs,
      expires_at_ms: createdAtMs + BigInt(sessionMs),
    });
    yield* addAuditEntry({ actor: consoleActor(link.made_by, id), nowMs }, 'console.signed_in', id);
    return true;
  },
);

/** Deletes the sessions and links that expire at `untilMs` or earlier. Returns the number of deleted sessions. */
export const endSessions = transaction(
  'endSessions',
  'row locks',
  function* (untilMs: bigint): Steps<number> {
    yield* step(deleteLinks, { untilMs });
    const ended = yield* step(deleteSessions, { untilMs });
    return ended.length;
  },
);

/** The sessions of the console, shared by all instances. The store keeps only the hashes of the tokens. */
export function createSessions(database: Database, clock: Clock) {
  return {
    /** Returns the token and the expiry of a new link for a system user. It works once, within `linkMs`. */
    async makeLink(madeBy: string) {
      const token = generateToken();
      const expiresAtMs = clock() + linkMs;
      const row = { token_hash: hashToken(token), made_by: madeBy, expires_at_ms: BigInt(expiresAtMs) };
      await database.run(insertLink, row);
      return { token, expiresAtMs };
    },

    /** Exchanges the token of a link for that of a session. Returns null if it is used, expired or unknown. */
    async signIn(linkToken: string): Promise<string | null> {
      if (!tokenText.test(linkToken)) return null;
      const token = generateToken();
      const hashes = { linkHash: hashToken(linkToken), tokenHash: hashToken(token) };
      const id = `console_${randomText(8)}`;
      const isOpen = await database.transact(openSession, { ...hashes, id, nowMs: clock() });
      return isOpen ? token : null;
    },

    /** Returns the session of a token, or null if the token is expired or unknown. */
    async find(token: string): Promise<SignedIn | null> {
      if (!tokenText.test(token)) return null;
      const wanted = { tokenHash: hashToken(token), nowMs: BigInt(clock()) };
      const [row] = await database.read(selectSession, wanted);
      return row === undefined ? null : { id: row.id, madeBy: row.made_by };
    },

    /** Ends the session of a token immediately. Does nothing if the session does not exist. */
    async signOut(token: string): Promise<void> {
      await database.run(deleteSession, { tokenHash: hashToken(token) });
    },

    /** Ends all sessions and links immediately. Returns the number of ended sessions. */
    revokeAll: () => database.transact(endSessions, int64Max),
    async sweep(): Promise<void> {
      await database.transact(endSessions, BigInt(clock()));
    },
  };
}

export type Sessions = ReturnType<typeof createSessions>;

function generateToken(): string {
  return randomBytes(tokenBytes).toString('base64url');
}

function hashToken(token: string): Uint8Array {
  return hash('sha256', token, 'buffer');
}

const insertLink = insertRow('console_links', ['token_hash', 'made_by', 'expires_at_ms']);

/** Deletes a link and returns it. Of several concurrent callers, only one gets the row. */
const takeLink = statement((query, p: { tokenHash: Uint8Array }) =>
  query
    .deleteFrom('console_links')
    .where('token_hash', '=', p.tokenHash)
    .returning(['made_by', 'expires_at_ms']),
);

const insertSession = insertRow('console_sessions', [
  ...(['token_hash', 'id', 'made_by', 'created_at_ms', 'expires_at_ms'] as const),
]);

const selectSession = statement((query, p: { tokenHash: Uint8Array; nowMs: bigint }) =>
  query
    .selectFrom('console_sessions')
    .select(['id', 'made_by'])
    .where('token_hash', '=', p.tokenHash)
    .where('expires_at_ms', '>', p.nowMs),
);

const deleteSession = statement((query, p: { tokenHash: Uint8Array }) =>
  query.deleteFrom('console_sessions').where('token_hash', '=', p.tokenHash),
);

const deleteExpired = (table: 'console_links' | 'console_sessions') =>
  statement((query, p: { untilMs: bigint }) =>
    query.deleteFrom(table).where('expires_at_ms', '<=', p.untilMs).returning('made_by'),
  );
const deleteLinks = deleteExpired('console_links');
const deleteSessions = deleteExpired('console_sessions');
