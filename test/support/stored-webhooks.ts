import type { DatabaseSync } from 'node:sqlite';

/** The columns of a webhook that a test inserts into a SQLite store. */
interface StoredWebhook {
  readonly id: string;
  readonly accountId?: number;
  readonly keyId?: string | undefined;
  readonly url?: string;
  readonly types?: string;
  readonly status?: 'enabled' | 'disabled';
  readonly position?: number;
  readonly result?: string | null;
}

const attemptAtMs = Date.UTC(2027, 0, 2, 11, 58);

/** Inserts webhooks whose next attempt is far in the future, so that no service sends to them. */
export function storeWebhooks(file: DatabaseSync, webhooks: readonly StoredWebhook[]): void {
  const insert =
    file.prepare(`insert into webhooks (public_id, account_id, key_id, url, types, sees_pets, sees_orders, status,
      position, revision, failures, next_attempt_at_ms, last_attempt_at_ms, last_result, created_at_ms,
      disabled_because)
    values (?, ?, ?, ?, ?, 1, 'own', ?, ?, 0, 0, 8000000000000000, ?, ?, 0, ?)`);
  for (const { id, accountId = 1, keyId = 'key_1', ...rest } of webhooks) {
    const { url = 'https://zoo.example/hook', types = 'pet.added pet.deleted' } = rest;
    const { status = 'enabled', position = 0, result = null } = rest;
    const atMs = result === null ? null : attemptAtMs;
    const because = status === 'disabled' ? 'owner' : null;
    insert.run(id, accountId, keyId, url, types, status, position, atMs, result, because);
  }
}
