import type { DatabaseSync } from 'node:sqlite';

/** Number of rows of each kind in the store. */
export const sizes = {
  animals: 1_000_000,
  accounts: 10_000,
  keysEach: 3,
  /** Keys of the largest account, including revoked keys. */
  keysOfOne: 10_000,
  categories: 10_000,
  orders: 200_000,
  webhooks: 10_000,
  deeds: 200_000,
  requests: 100_000,
} as const;

/** The account with the most keys and usage rows. */
export const largeAccount = 'shop 1';

const count = (rows: number) =>
  `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${rows})`;

/** Fills a migrated store. No service may serve the store during this call. */
export function fillStore(file: DatabaseSync, nowMs: number): void {
  const dayMs = 86_400_000;
  file.exec('pragma synchronous = off; begin');
  file.exec(`${count(sizes.animals)} insert into pets (name, category_id, status, is_owned)
    select 'animal ' || n, 1 + n % ${sizes.categories},
      case n % 4 when 0 then 'pending' when 1 then 'sold' else 'available' end, 0 from numbers`);
  file.exec(
    `${count(sizes.categories)} insert into categories (id, name) select n, 'category ' || n from numbers`,
  );
  file.exec(`${count(sizes.accounts)} insert into accounts (name, plan, created_at_ms)
    select 'shop ' || n, 'pro', ${nowMs} from numbers`);
  fillKeys(file, nowMs);
  file.exec(`${count(sizes.orders)} insert into orders
      (account_id, pet_id, status, reference, created_at_ms, expires_at_ms, closed_at_ms)
    select 1 + n % ${sizes.accounts}, n,
      case when n % 4 = 0 then 'reserved' when n % 4 = 1 then 'completed' when n % 4 = 2 then 'cancelled' else 'returned' end,
      'R-' || n, ${nowMs} - n, ${nowMs + dayMs}, case when n % 4 = 0 then null else ${nowMs} end from numbers`);
  file.exec(`${count(sizes.webhooks)} insert into webhooks (public_id, account_id, key_id, url, types, sees_pets, sees_orders,
      status, position, revision, failures, next_attempt_at_ms, last_attempt_at_ms, last_result, created_at_ms)
    select 'wh_' || printf('%016d', n), 1 + n % ${sizes.accounts}, 'key_' || printf('%016d', n),
      'https://shop-' || n || '.example.com/animal-store/events',
      'pet.added pet.updated pet.deleted category.updated category.deleted order.reserved order.completed order.cancelled order.expired order.returned',
      1, 'own', case when n % 10 = 0 then 'disabled' else 'enabled' end,
      (select max(id) from events) - n, 0, 1, ${nowMs + 10 * dayMs}, ${nowMs}, '503', ${nowMs} from numbers`);
  file.exec(`${count(sizes.deeds)} insert into audit (at_ms, actor_kind, actor, action, subject, account_id, before, after)
    select ${nowMs}, 'key', 'key_1', 'key.created', 'key_' || n, 1 + n % ${sizes.accounts}, null, '{"name":"n"}' from numbers`);
  file.exec(`${count(sizes.requests)} insert into requests (at_ms, last_at_ms, account_id, key_id, address, operation,
      status, code, message, request_id, duration_ms, times)
    select ${nowMs} - ${sizes.requests} + n, ${nowMs} - ${sizes.requests} + n, 1 + n % ${sizes.accounts},
      'key_' || printf('%016d', n % 1000), '192.0.2.1', 'GET /pets/{petId}', 404, 'not_found', 'there is no such animal',
      'r-' || n, 1, 1 from numbers`);
  file.exec(`${count(24 * 7)} insert into usage_hours (account_id, hour_at_ms, requests, refusals, errors)
    select accounts.id, ${nowMs - (nowMs % 3_600_000)} - n * 3600000, 100 + n, n % 7, n % 5
    from numbers, accounts where accounts.id = 1 or n <= 12`);
  file.exec(`${count(100)} insert into console_sessions (token_hash, id, made_by, created_at_ms, expires_at_ms)
    select randomblob(32), 'console_' || printf('%08d', n), 'mira', ${nowMs}, ${nowMs + dayMs} from numbers`);
  file.exec('commit');
}

function fillKeys(file: DatabaseSync, nowMs: number): void {
  const insert =
    'insert into api_keys (id, account_id, secret_hash, visible_start, scopes, created_at_ms, revoked_at_ms)';
  const scopes = "'pets:read pets:write orders:read orders:write webhooks:manage'";
  file.exec(`${count(sizes.accounts * sizes.keysEach)} ${insert}
    select 'key_' || printf('%016d', n), 1 + n % ${sizes.accounts}, randomblob(32), 'as_live_abc', ${scopes}, ${nowMs} + n, null
    from numbers`);
  file.exec(`${count(sizes.keysOfOne)} ${insert}
    select 'key_x' || printf('%015d', n), 1, randomblob(32), 'as_live_xyz', ${scopes}, ${nowMs} - n,
      case when n % 2 = 0 then ${nowMs} end from numbers`);
  file.exec(`insert into key_bans (key_id, banned_until_ms, last_ban_at_ms, last_ban_ms, refused_at_ms, forget_at_ms)
    select id, ${nowMs + 3_600_000}, ${nowMs}, 60000, '', ${nowMs + 86_400_000} from api_keys where id like 'key_0%5' order by id limit 1000`);
}
