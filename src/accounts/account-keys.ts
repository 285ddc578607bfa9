import { type Clock, secondMs } from '../clock.ts';
import type { Page } from '../page.ts';
import type { Database } from '../storage/database.ts';
import type { Caller, Scope } from './account.ts';
import type { KeyEnvironment } from './api-key.ts';
import { createAccountKey, keyNotFound, revokeKey, rotateKey } from './key-changes.ts';
import { listKeyPage, toPartnerKey } from './key-list.ts';
import type { KeyVerifier } from './key-verifier.ts';
import { generateNewKey } from './keyring.ts';
import { keyIdPattern, type PartnerKey } from './schemas.ts';

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
export type AccountKeys = ReturnType<typeof createAccountKeys>;

/**
 * Creates the key management of a service. The text of new keys contains `environment`. Changes take effect at once in
 * the `verifier` of this instance.
 */
export function createAccountKeys(
  database: Database,
  clock: Clock,
  environment: KeyEnvironment,
  verifier: Pick<KeyVerifier, 'flush' | 'forget'>,
) {
  const describe = ({ keyId }: CallingKey) => ({
    callingKeyId: keyId,
    by: { actor: { kind: 'key' as const, name: keyId }, nowMs: clock() },
  });

  return {
    /** Returns the keys that are not revoked, newest first. A page starts at `firstId`, or at the newest key if null. */
    async list(accountId: bigint, limit: number, firstId: string | null): Promise<Page<PartnerKey, string>> {
      const { items, next } = await listKeyPage(database, accountId, limit, firstId, clock());
      return { items: items.map(toPartnerKey), next };
    },

    /** Throws `scope_missing`, `limit_reached`, or `invalid_body` if the new key would outlive the calling key. */
    async create(callingKey: CallingKey, { name, scopes, lifetimeSeconds }: AccountKeyOrder) {
      const { key, newKey } = generateNewKey(environment);
      const lifetimeMs = lifetimeSeconds === null ? null : lifetimeSeconds * secondMs;
      const order = { newKey, name, scopes, lifetimeMs, ...describe(callingKey) };
      return { ...toPartnerKey(await database.transact(createAccountKey, order)), key };
    },

    /** Replaces a key. The old key expires after the overlap. Throws `not_found`, `key_rotated` and `scope_missing`. */
    async rotate(callingKey: CallingKey, id: string, overlapSeconds: number) {
      requireKeyId(id);
      const { key, newKey } = generateNewKey(environment);
      const rotation = { newKey, id, overlapMs: overlapSeconds * secondMs, ...describe(callingKey) };
      // The uses that this instance has noted decide whether a successor was used.
      await verifier.flush();
      const issued = await database.transact(rotateKey, rotation);
      verifier.forget(id);
      return { ...toPartnerKey(issued), key };
    },

    /** Revokes a key permanently. Throws `not_found`. */
    async remove(callingKey: CallingKey, id: string): Promise<void> {
      requireKeyId(id);
      await database.transact(revokeKey, { id, ...describe(callingKey) });
      verifier.forget(id);
    },
  };
}

const keyId = new RegExp(keyIdPattern);

/** Throws `not_found` without a transaction if the text cannot be a key id. */
function requireKeyId(id: string): void {
  if (!keyId.test(id)) throw keyNotFound();
}
