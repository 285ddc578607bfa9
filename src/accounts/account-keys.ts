import type { Authorship } from '../audit/audit-entry.ts';
import { type Clock, secondMs } from '../clock.ts';
import type { Page } from '../page.ts';
import type { Database } from '../storage/database.ts';
import type { Caller, Scope } from './account.ts';
import { type KeyEnvironment, visibleStart } from './api-key.ts';
import { createAccountKey, keyNotFound, revokeKey, rotateKey, type StoredKey } from './key-changes.ts';
import { listKeyPage } from './key-list.ts';
import { toTime } from './key-state.ts';
import type { KeyVerifier } from './key-verifier.ts';
import { generateNewKey } from './keyring.ts';
import { type IssuedPartnerKey, keyIdPattern, type PartnerKey } from './schemas.ts';

/** The properties of a key that a partner creates. */
export interface AccountKeyOrder {
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  /** Null: the new key expires together with the calling key. */
  readonly lifetimeSeconds: number | null;
}

/** The key that authenticated the request. */
export type CallingKey = Pick<Caller, 'accountId' | 'keyId'>;

/**
 * Manages the keys of an account on behalf of one of these keys. Each change is one transaction that also writes the
 * audit log. A calling key can create and rotate only keys whose scopes it has or covers.
 */
export interface AccountKeys {
  /** Returns the keys that are not revoked, newest first. A page starts at `firstId`, or at the newest key if null. */
  list(accountId: bigint, limit: number, firstId: string | null): Promise<Page<PartnerKey, string>>;
  /** Throws `scope_missing`, `limit_reached`, or `invalid_body` if the new key would outlive the calling key. */
  create(callingKey: CallingKey, order: AccountKeyOrder): Promise<IssuedPartnerKey>;
  /** Replaces a key. The old key expires after the overlap. Throws `not_found`, `key_rotated` and `scope_missing`. */
  rotate(callingKey: CallingKey, id: string, overlapSeconds: number): Promise<IssuedPartnerKey>;
  /** Revokes a key permanently. Throws `not_found`. */
  remove(callingKey: CallingKey, id: string): Promise<void>;
}

/**
 * Creates the key management of a service. The text of new keys contains `environment`. Changes take effect at once in
 * the `verifier` of this instance.
 */
export function createAccountKeys(
  database: Database,
  clock: Clock,
  environment: KeyEnvironment,
  verifier: Pick<KeyVerifier, 'flush' | 'forget'>,
): AccountKeys {
  const byOf = ({ keyId }: CallingKey): Authorship => ({
    actor: { kind: 'key', name: keyId },
    nowMs: clock(),
  });

  return {
    async list(accountId, limit, firstId) {
      const { items, next } = await listKeyPage(database, accountId, limit, firstId, clock());
      return { items: items.map(({ key }) => key), next };
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
      const rotation = {
        newKey,
        callingKeyId: callingKey.keyId,
        id,
        overlapMs: overlapSeconds * secondMs,
        by,
      };
      // The uses that this instance has noted decide whether a successor was used.
      await verifier.flush();
      const issued = await database.transact(rotateKey, rotation);
      verifier.forget(id);
      return toIssuedKey(issued, key, by);
    },

    async remove(callingKey, id) {
      requireKeyId(id);
      await database.transact(revokeKey, { id, callingKeyId: callingKey.keyId, by: byOf(callingKey) });
      verifier.forget(id);
    },
  };
}

const keyId = new RegExp(keyIdPattern);

/** Throws `not_found` without a transaction if the text cannot be a key id. */
function requireKeyId(id: string): void {
  if (!keyId.test(id)) throw keyNotFound();
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
