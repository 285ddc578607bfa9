import { hash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { type Authorship, commandActor, consoleActor } from '../audit/audit-log.ts';
import { type Clock, dayMs } from '../clock.ts';
import { OperatorError } from '../errors.ts';
import type { SignedIn } from '../http/route.ts';
import { int64Max } from '../int64.ts';
import type { Role } from '../operator-role.ts';
import { randomText } from '../random-text.ts';
import { type Database, type RowOf, statement } from '../storage/database.ts';
import { toPage } from '../storage/read-page.ts';
import type { SessionKind } from './operators.ts';
import {
  addLink,
  addPass,
  addToken,
  endAllSessions,
  endSession,
  endSessions,
  linkMs,
  openSession,
  type ProfileKind,
  takePass,
} from './session-changes.ts';

export const consolePath = '/console';
/** Time in ms after which a token of the operator's API expires, unless a command says another. */
export const tokenMs = 365 * dayMs;
/** A token of 256 random bits cannot be guessed. */
const tokenBytes = 32;
const tokenText = /^[\w-]{43}$/;

export type ListedSession = ReturnType<typeof toListed>;

/** The sessions and tokens of operators, shared by all instances. The store keeps only the hashes of the tokens. */
export function createSessions(database: Database, clock: Clock, actor = commandActor()) {
  const byNow = (): Authorship => ({ actor, nowMs: clock() });
  return { ...createBeginnings(database, byNow), ...createEnds(database, byNow) };
}

export type Sessions = ReturnType<typeof createSessions>;

/** How links, tokens and sessions begin. */
function createBeginnings(database: Database, byNow: () => Authorship) {
  return {
    /**
     * Returns the token and the expiry of a new link for a name. It works once, within `linkMs`. Throws OperatorError if
     * `isNamed` and no operator has this name.
     */
    async makeLink(name: string, isNamed = false) {
      const token = generateToken();
      const by = byNow();
      await database.transact(addLink, { tokenHash: hashToken(token), name, isNamed, by });
      return { token, expiresAtMs: by.nowMs + linkMs };
    },

    /** Returns a new token of the operator's API, valid for `lifetimeMs`. Throws OperatorError if no operator has the name. */
    async makeToken(name: string, lifetimeMs = tokenMs) {
      const token = generateToken();
      const id = `token_${randomText(8)}`;
      const by = byNow();
      const expiresAtMs = by.nowMs + lifetimeMs;
      await database.transact(addToken, { tokenHash: hashToken(token), id, name, expiresAtMs, by });
      return { id, token, expiresAtMs };
    },

    /** Returns a pass for one profile of a running instance, valid for a minute. */
    async makePass(kind: ProfileKind): Promise<string> {
      const token = generateToken();
      await database.transact(addPass, { tokenHash: hashPass(kind, token), kind, by: byNow() });
      return token;
    },

    /** Uses a pass. Returns false if it is used, expired, unknown or for a profile of the other kind. */
    async takePass(kind: ProfileKind, token: string): Promise<boolean> {
      if (!tokenText.test(token)) return false;
      return await database.transact(takePass, { tokenHash: hashPass(kind, token), nowMs: byNow().nowMs });
    },

    /** Exchanges the token of a link for that of a session. Returns null if it is used, expired or unknown. */
    async signIn(linkToken: string): Promise<string | null> {
      if (!tokenText.test(linkToken)) return null;
      const token = generateToken();
      const hashes = { linkHash: hashToken(linkToken), tokenHash: hashToken(token) };
      const id = `console_${randomText(8)}`;
      const isOpen = await database.transact(openSession, { ...hashes, id, nowMs: byNow().nowMs });
      return isOpen ? token : null;
    },
  };
}

/** How sessions and tokens are found, and how they end. */
function createEnds(database: Database, byNow: () => Authorship) {
  const now = () => BigInt(byNow().nowMs);
  return {
    /** Returns the session of a token, or null if the token is expired, unknown or of the other kind. */
    async find(token: string, kind: SessionKind): Promise<SignedIn | null> {
      if (!tokenText.test(token)) return null;
      const wanted = { tokenHash: hashToken(token), kind, nowMs: now() };
      const [row] = await database.read(selectSession, wanted);
      return row === undefined ? null : { id: row.id, name: row.made_by, role: readRole(row) };
    },

    /** Returns the sessions and tokens that have not expired, newest first. */
    list: async () =>
      (await database.read(selectSessions, { ...newestSession, nowMs: now(), count: int64Max })).map(
        toListed,
      ),

    /** Returns a page of the sessions and tokens that have not expired, newest first. Null: the first page. */
    async listPage(limit: number, first: SessionPlace | null) {
      const from = first === null ? newestSession : { createdAtMs: BigInt(first.createdAtMs), id: first.id };
      const rows = await database.read(selectSessions, { ...from, nowMs: now(), count: BigInt(limit + 1) });
      const { items } = toPage(rows, limit, toListed);
      const further = rows[limit];
      return { items, next: further === undefined ? null : toPlace(further) };
    },

    /** Ends a session or a token immediately. Throws OperatorError if there is none with this id. */
    end: (id: string) => database.transact(endSession, { id, by: byNow() }),

    /** Ends the session of somebody who signs out. Does nothing if it has ended. */
    async signOut({ id, name }: SignedIn): Promise<void> {
      const by = { ...byNow(), actor: consoleActor(name, id) };
      await database.transact(endSession, { id, by }).catch((error) => {
        if (!(error instanceof OperatorError)) throw error;
      });
    },

    /** Ends all sessions and links immediately, but no token. Returns the number of ended sessions. */
    revokeAll: () => database.transact(endAllSessions, { by: byNow() }),
    async sweep(): Promise<void> {
      await database.transact(endSessions, now());
    },
  };
}

function generateToken(): string {
  return randomBytes(tokenBytes).toString('base64url');
}

/** Release 1.2.0 hashes a token alone. It knows no roles, so with this prefix it finds no session of a later release. */
function hashToken(token: string): Uint8Array {
  return hash('sha256', `operator:${token}`, 'buffer');
}

/**
 * No link and no session has this prefix, so a pass signs nobody in. The kind is part of it, so that what the audit log says of
 * a pass is what was taken.
 */
function hashPass(kind: ProfileKind, token: string): Uint8Array {
  return hash('sha256', `profile:${kind}:${token}`, 'buffer');
}

/** Where a page of sessions begins. */
export interface SessionPlace {
  readonly createdAtMs: number;
  readonly id: string;
}

const toPlace = (row: RowOf<typeof selectSessions>): SessionPlace => ({
  createdAtMs: Number(row.created_at_ms),
  id: row.id,
});

/** Comes before all sessions. */
const newestSession = { createdAtMs: int64Max, id: '' };

/** A person who has the shell of the service could do everything by commands, so such a session is that of an admin. */
function readRole({ operator, role }: { readonly operator: string | null; readonly role: string | null }) {
  return operator === null ? 'admin' : (role as Role | null);
}

function toListed(row: RowOf<typeof selectSessions>) {
  return {
    id: row.id,
    kind: row.kind as SessionKind,
    name: row.made_by,
    role: readRole(row),
    createdAtMs: Number(row.created_at_ms),
    expiresAtMs: Number(row.expires_at_ms),
  };
}

const selectSession = statement((query, p: { tokenHash: Uint8Array; kind: string; nowMs: bigint }) =>
  query
    .selectFrom('console_sessions')
    .leftJoin('operators', 'operators.name', 'console_sessions.operator')
    .select(['id', 'made_by', 'operator', 'role'])
    .where('token_hash', '=', p.tokenHash)
    .where('kind', '=', p.kind)
    .where('expires_at_ms', '>', p.nowMs),
);

type SessionRange = { createdAtMs: bigint; id: string; nowMs: bigint; count: bigint };

const selectSessions = statement((query, p: SessionRange) =>
  query
    .selectFrom('console_sessions')
    .leftJoin('operators', 'operators.name', 'console_sessions.operator')
    .select(['id', 'kind', 'made_by', 'operator', 'role'])
    .select(['console_sessions.created_at_ms', 'expires_at_ms'])
    .where('expires_at_ms', '>', p.nowMs)
    .where(sql<boolean>`(console_sessions.created_at_ms, id) <= (${p.createdAtMs}, ${p.id})`)
    .orderBy('console_sessions.created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(p.count),
);
