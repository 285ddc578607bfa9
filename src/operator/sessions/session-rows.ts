import { statement } from '../../storage/database.ts';

/** Stores the hash of a link's token. */
export const insertLink = statement<{ tokenHash: Uint8Array; madeBy: string; expiresAtMs: bigint }>()(
  (query, p) =>
    query
      .insertInto('console_links')
      .values({ token_hash: p.tokenHash, made_by: p.madeBy, expires_at_ms: p.expiresAtMs }),
);

/** Deletes a link. Of several concurrent callers, only one gets its row. */
export const takeLink = statement<{ tokenHash: Uint8Array }>()((query, p) =>
  query
    .deleteFrom('console_links')
    .where('token_hash', '=', p.tokenHash)
    .returning(['made_by', 'expires_at_ms']),
);

/** Stores a session under the hash of its token. */
export const insertSession = statement<{
  tokenHash: Uint8Array;
  id: string;
  madeBy: string;
  createdAtMs: bigint;
  expiresAtMs: bigint;
}>()((query, p) =>
  query.insertInto('console_sessions').values({
    token_hash: p.tokenHash,
    id: p.id,
    made_by: p.madeBy,
    created_at_ms: p.createdAtMs,
    expires_at_ms: p.expiresAtMs,
  }),
);

/** The session of a token, if it has not expired, in one row or none. */
export const selectSession = statement<{ tokenHash: Uint8Array; nowMs: bigint }>()((query, p) =>
  query
    .selectFrom('console_sessions')
    .select(['id', 'made_by', 'expires_at_ms'])
    .where('token_hash', '=', p.tokenHash)
    .where('expires_at_ms', '>', p.nowMs),
);

/** Ends the session of a token. */
export const deleteSession = statement<{ tokenHash: Uint8Array }>()((query, p) =>
  query.deleteFrom('console_sessions').where('token_hash', '=', p.tokenHash),
);

/** Deletes the links that have expired by a time. */
export const deleteLinks = statement<{ untilMs: bigint }>()((query, p) =>
  query.deleteFrom('console_links').where('expires_at_ms', '<=', p.untilMs).returning('made_by'),
);

/** Deletes the sessions that have expired by a time. */
export const deleteSessions = statement<{ untilMs: bigint }>()((query, p) =>
  query.deleteFrom('console_sessions').where('expires_at_ms', '<=', p.untilMs).returning('id'),
);
