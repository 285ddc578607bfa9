import { statement } from '../../storage/database.ts';

export const insertLink = statement<{ tokenHash: Uint8Array; madeBy: string; expiresAtMs: bigint }>()(
  (query, p) =>
    query
      .insertInto('console_links')
      .values({ token_hash: p.tokenHash, made_by: p.madeBy, expires_at_ms: p.expiresAtMs }),
);

/** Deletes a link and returns it. Of several concurrent callers, only one gets the row. */
export const takeLink = statement<{ tokenHash: Uint8Array }>()((query, p) =>
  query
    .deleteFrom('console_links')
    .where('token_hash', '=', p.tokenHash)
    .returning(['made_by', 'expires_at_ms']),
);

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

/** Selects the session of a token, if it has not expired. */
export const selectSession = statement<{ tokenHash: Uint8Array; nowMs: bigint }>()((query, p) =>
  query
    .selectFrom('console_sessions')
    .select(['id', 'made_by', 'expires_at_ms'])
    .where('token_hash', '=', p.tokenHash)
    .where('expires_at_ms', '>', p.nowMs),
);

export const deleteSession = statement<{ tokenHash: Uint8Array }>()((query, p) =>
  query.deleteFrom('console_sessions').where('token_hash', '=', p.tokenHash),
);

/** Deletes the links that expire at `untilMs` or earlier. */
export const deleteLinks = statement<{ untilMs: bigint }>()((query, p) =>
  query.deleteFrom('console_links').where('expires_at_ms', '<=', p.untilMs).returning('made_by'),
);

/** Deletes the sessions that expire at `untilMs` or earlier. */
export const deleteSessions = statement<{ untilMs: bigint }>()((query, p) =>
  query.deleteFrom('console_sessions').where('expires_at_ms', '<=', p.untilMs).returning('id'),
);
