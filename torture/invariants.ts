/** Runs a query on any engine. */
export type Query = (sql: string) => Promise<readonly Record<string, unknown>[]>;

const owning = `('reserved', 'completed')`;

/** Invariants of orders and animals (contract section 12). Each query finds violations. */
const invariants: readonly (readonly [name: string, sql: string])[] = [
  [
    'an animal has at most one order that owns it',
    `select pet_id from orders where status in ${owning} group by pet_id having count(*) > 1`,
  ],
  [
    'an animal is owned if and only if an order owns it',
    `select pets.id from pets where (is_owned = 1) <> exists (
      select 1 from orders where pet_id = pets.id and orders.status in ${owning})`,
  ],
  [
    'an owned animal has the status that its order gives it',
    `select pets.id from pets join orders on pet_id = pets.id
      where (orders.status = 'reserved' and pets.status <> 'pending')
        or (orders.status = 'completed' and pets.status <> 'sold')`,
  ],
  [
    'an order is closed if and only if it is no longer reserved',
    `select id from orders where (status = 'reserved') <> (closed_at_ms is null)`,
  ],
  [
    'an expired order was closed at the end of its hold',
    `select id from orders where status = 'expired' and closed_at_ms <> expires_at_ms`,
  ],
];

/** Throws an error that names the first violated invariant. */
export async function requireInvariants(query: Query): Promise<void> {
  for (const [name, sql] of invariants) {
    const broken = await query(`${sql} limit 5`);
    if (broken.length > 0) throw new Error(`${name}: violated by ${JSON.stringify(broken, toText)}`);
  }
  await requireCounted(query);
  await requireExplained(query);
}

/** Requires that the inventory, with its pending changes, equals a count of the animals. */
async function requireCounted(query: Query): Promise<void> {
  const statuses = ['available', 'pending', 'sold'];
  const sums = (table: string) =>
    statuses.map((status) => `coalesce((select sum(${status}) from ${table}), 0)`);
  const [totals, changes] = [sums('inventory_totals'), sums('inventory_changes')];
  const counted = statuses.map((status) => `(select count(*) from pets where status = '${status}')`);
  const broken = statuses.map((_, at) => `${totals[at]} + ${changes[at]} <> ${counted[at]}`).join(' or ');
  const rows = await query(`select 1 as wrong where ${broken}`);
  if (rows.length > 0) throw new Error('the inventory differs from a count of the animals');
}

/** Selects events, animals and orders in one snapshot, with the oldest events first. */
const everything = `
  select 1 as part, id, type as name, data as text from events
  union all select 2, id, type, data from event_outbox
  union all select 3, id, 'pet', status from pets
  union all select 4, id, 'order', status from orders
  order by part, id`;

/** Requires that the newest event of each animal and order equals its current state. */
async function requireExplained(query: Query): Promise<void> {
  const explained = new Map<string, string>();
  for (const { part, id, name, text } of await query(everything))
    if (Number(part) <= 2) {
      const row = JSON.parse(String(text)) as { id: number; status: string };
      explained.set(`${String(name).split('.')[0]} ${row.id}`, row.status);
    } else if (explained.get(`${name} ${id}`) !== text)
      throw new Error(`no event explains that the ${name} ${id} is ${text}`);
}

function toText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
