import type { Authorship } from '../audit/audit-entry.ts';
import { type Clock, secondMs } from '../clock.ts';
import { after, type Soon } from '../soon.ts';
import type { Database } from '../storage/database.ts';
import type { Caller, Scope } from './account.ts';
import { selectAccountKeysFrom, selectNewestAccountKeys } from './account-key-rows.ts';
import { createAccountKey, keyNotFound, removeAccountKey, rotateAccountKey } from './account-key-works.ts';
import type { StoredKey } from './add-key.ts';
import { type KeyEnvironment, visibleStart } from './api-key.ts';
import { type IssuedPartnerKey, keyIdPattern, type PartnerKey } from './key.ts';
import { readScopes, readState, toTime } from './key-state.ts';
import { generateNewKey } from './keyring.ts';

/** The properties of a key that a partner creates. */
export interface AccountKeyOrder {
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  /** Null: the new key expires together with the calling key. */
  readonly lifetimeSeconds: number | null;
}

/** A page of keys. `nextId` is the id of the first key on the next page; null on the last page. */
export interface KeyPage {
  readonly keys: readonly PartnerKey[];
  readonly nextId: string | null;
}

/** The key that authenticated the request. */
export type CallingKey = Pick<Caller, 'accountId' | 'keyId'>;

/**
 * Manages the keys of an account on behalf of one of these keys (contract section 15). Each change is one transaction
 * that also writes the audit log. A calling key can create and rotate only keys whose scopes it has or covers.
 */
export interface AccountKeys {
  /** Returns the keys that are not revoked, newest first. A page starts at `firstId`, or at the newest key if null. */
  list(accountId: bigint, limit: number, firstId: string | null): Soon<KeyPage>;
  /** Throws `scope_missing`, `limit_reached`, or `invalid_body` if the new key would outlive the calling key. */
  create(callingKey: CallingKey, order: AccountKeyOrder): Promise<IssuedPartnerKey>;
  /** Replaces an active key. The old key expires after the overlap. Throws `not_found` and `scope_missing`. */
  rotate(callingKey: CallingKey, id: string, overlapSeconds: number): Promise<IssuedPartnerKey>;
  /** Revokes a key permanently. Throws `not_found`. */
  remove(callingKey: CallingKey, id: string): Promise<void>;
}

/** Creates the key management of a store. The text of new keys contains `environment`. */
export function createAccountKeys(
  database: Database,
  clock: Clock,
  environment: KeyEnvironment,
): AccountKeys {
  const byOf = ({ keyId }: CallingKey): Authorship => ({
    actor: { kind: 'key', name: keyId },
    nowMs: clock(),
  });

  return {
    list(accountId, limit, firstId) {
      const count = BigInt(limit + 1);
      const rows =
        firstId === null
          ? database.read(selectNewestAccountKeys, { accountId, count })
          : database.read(selectAccountKeysFrom, { accountId, count, firstId });
      return after(rows, (found) => ({
        keys: found.slice(0, limit).map((row) => toPartnerKey(row, clock())),
        nextId: found[limit]?.id ?? null,
      }));
    },

    async create(callingKey, { name, scopes, lifetimeSeconds }) {
      const { key, newKey } = generateNewKey(environment);
      const lifetimeMs = lifetimeSeconds === null ? null : lifetimeSeconds * secondMs;
      const by = byOf(callingKey);
      const order = { newKey, callingKeyId: callingKey.keyId, name, scopes, lifetimeMs, by };
      return toIssuedKey(await database.transact(createAccountKey, order), key, by);
    },

    async rotate(callingKey, id, overlapSeconds) {
      requireKeyId(id);
      const { key, newKey } = generateNewKey(environment);
      const by = byOf(callingKey);
      const order = { newKey, callingKeyId: callingKey.keyId, id, overlapMs: overlapSeconds * secondMs, by };
      return toIssuedKey(await database.transact(rotateAccountKey, order), key, by);
    },

    async remove(callingKey, id) {
      requireKeyId(id);
      await database.transact(removeAccountKey, {
        callingKeyId: callingKey.keyId,
        id,
        by: byOf(callingKey),
      });
    },
  };
}

const keyId = new RegExp(keyIdPattern);

/** Throws `not_found` without a transaction if the text cannot be a key id. */
function requireKeyId(id: string): void {
  if (!keyId.test(id)) throw keyNotFound();
}

interface ListedRow {
  readonly id: string;
  readonly visible_start: string;
  readonly name: string | null;
  readonly scopes: string;
  readonly created_at_ms: bigint;
  readonly expires_at_ms: bigint | null;
  readonly revoked_at_ms: bigint | null;
  readonly last_used_at_ms: bigint | null;
}

function toPartnerKey(row: ListedRow, nowMs: number): PartnerKey {
  const state = readState(row, nowMs);
  return {
    id: row.id,
    name: row.name,
    scopes: [...readScopes(row.scopes)],
    expiresAt: readTime(row.expires_at_ms),
    start: row.visible_start,
    state: state === 'revoked' ? 'expired' : state,
    createdAt: new Date(Number(row.created_at_ms)).toISOString(),
    lastUsedAt: readTime(row.last_used_at_ms),
  };
}

function toIssuedKey({ id, name, scopes, expiresAtMs }: StoredKey, key: string, { nowMs }: Authorship) {
  return {
    id,
    name,
    scopes: [...scopes],
    expiresAt: toTime(expiresAtMs),
    start: visibleStart(key),
    state: 'active' as const,
    createdAt: new Date(nowMs).toISOString(),
    lastUsedAt: null,
    key,
  };
}

function readTime(ms: bigint | null): string | null {
  return toTime(ms === null ? null : Number(ms));
}
