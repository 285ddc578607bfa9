import { hash, randomBytes } from 'node:crypto';
import { randomText } from '../../accounts/api-key.ts';
import { type Clock, hourMs, minuteMs } from '../../clock.ts';
import { int64Max } from '../../int64.ts';
import { after, type Soon } from '../../soon.ts';
import { type Database, defineWork, step, type Work } from '../../storage/database.ts';
import {
  deleteLinks,
  deleteSession,
  deleteSessions,
  insertLink,
  insertSession,
  selectSession,
  takeLink,
} from './session-rows.ts';

/** How long a link to the console is valid (contract section 16). */
export const linkMs = 10 * minuteMs;
/** How long a session lasts (contract section 16). */
export const sessionMs = 12 * hourMs;
/** 256 bits cannot be guessed. */
const tokenBytes = 32;
const tokenText = /^[\w-]{43}$/;

/** An operator who is signed in. */
export interface Session {
  /** The name in the audit log. */
  readonly id: string;
  /** The system user who created the link. */
  readonly madeBy: string;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
}

/** The secret of a link or a session, and when it expires. The store keeps only its hash. */
export interface Token {
  readonly token: string;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
}

/** The sessions of the console, on all instances. Throws as the database does (database.ts). */
export interface Sessions {
  /** Creates the token of a link for the user who runs the command. The link works once, within `linkMs`. */
  makeLink(madeBy: string): Promise<Token>;
  /** Signs in with the token of a link. Null if the token is used, expired or unknown. */
  signIn(linkToken: string): Promise<(Token & { readonly session: Session }) | null>;
  /** The session of a token; null if it is expired or unknown. */
  find(token: string): Soon<Session | null>;
  /** Ends the session of a token at once. Does nothing if there is none. */
  signOut(token: string): Promise<void>;
  /** Ends all sessions and links at once. Returns the number of sessions. */
  revokeAll(): Promise<number>;
}

interface SignIn {
  readonly linkHash: Uint8Array;
  readonly tokenHash: Uint8Array;
  readonly id: string;
  readonly nowMs: number;
}

/**
 * Exchanges a link for a session. Returns the user who created the link, or null. Also deletes expired links and
 * sessions.
 */
export const openSession = defineWork(
  import.meta.url,
  'openSession',
  function* ({ linkHash, tokenHash, id, nowMs }: SignIn): Work<string | null> {
    const [link] = yield* step(takeLink, { tokenHash: linkHash });
    const untilMs = BigInt(nowMs);
    yield* step(deleteLinks, { untilMs });
    yield* step(deleteSessions, { untilMs });
    if (link === undefined || link.expires_at_ms <= untilMs) return null;
    const madeBy = link.made_by;
    const expiresAtMs = untilMs + BigInt(sessionMs);
    yield* step(insertSession, { tokenHash, id, madeBy, createdAtMs: untilMs, expiresAtMs });
    return madeBy;
  },
  'row locks',
);

/** Ends all sessions and links. Returns the number of sessions. */
export const endAll = defineWork(
  import.meta.url,
  'endAll',
  function* (): Work<number> {
    yield* step(deleteLinks, { untilMs: int64Max });
    const ended = yield* step(deleteSessions, { untilMs: int64Max });
    return ended.length;
  },
  'row locks',
);

export function createSessions(database: Database, clock: Clock): Sessions {
  return {
    async makeLink(madeBy) {
      const token = generateToken();
      const expiresAtMs = clock() + linkMs;
      await database.run(insertLink, {
        tokenHash: hashToken(token),
        madeBy,
        expiresAtMs: BigInt(expiresAtMs),
      });
      return { token, expiresAtMs };
    },

    async signIn(linkToken) {
      if (!tokenText.test(linkToken)) return null;
      const token = generateToken();
      const id = `console_${randomText(8)}`;
      const nowMs = clock();
      const hashes = { linkHash: hashToken(linkToken), tokenHash: hashToken(token) };
      const madeBy = await database.transact(openSession, { ...hashes, id, nowMs });
      if (madeBy === null) return null;
      const expiresAtMs = nowMs + sessionMs;
      return { token, expiresAtMs, session: { id, madeBy, expiresAtMs } };
    },

    find(token) {
      if (!tokenText.test(token)) return null;
      const rows = database.read(selectSession, { tokenHash: hashToken(token), nowMs: BigInt(clock()) });
      return after(rows, ([row]) =>
        row === undefined
          ? null
          : { id: row.id, madeBy: row.made_by, expiresAtMs: Number(row.expires_at_ms) },
      );
    },

    async signOut(token) {
      await database.run(deleteSession, { tokenHash: hashToken(token) });
    },

    revokeAll: () => database.transact(endAll, undefined),
  };
}

function generateToken(): string {
  return randomBytes(tokenBytes).toString('base64url');
}

function hashToken(token: string): Uint8Array {
  return hash('sha256', token, 'buffer');
}
