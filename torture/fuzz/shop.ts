import { generateKey } from '../../src/accounts/api-key.ts';
import { parseExactJson } from '../../src/exact-json.ts';
import { amplePlan } from '../../test/support/instances.ts';
import type { Target } from '../target.ts';
import type { KeyKind } from './call.ts';

/** The keys and animals that all lanes share. */
export interface Shop {
  readonly keys: Readonly<Record<KeyKind, string | null>>;
  /** The JSON of each animal as the service returned it, by id. */
  readonly pets: Map<string, string>;
  readonly ids: string[];
}

/** Creates a key of every kind and a first animal. */
export async function openShop(target: Target): Promise<Shop> {
  const ample = (await target.createKey()).key;
  const revoked = await target.createKey();
  await target.command('keys', 'revoke', revoked.id);
  const exhausted = await target.createKey('--plan', 'enterprise', '--per-minute', '1', '--per-day', '1');
  await ask(target, exhausted.key);
  const keys = {
    ample,
    reader: (await target.createKey(...amplePlan, '--scopes', 'pets:read')).key,
    writer: (await target.createKey(...amplePlan, '--scopes', 'pets:write')).key,
    exhausted: exhausted.key,
    revoked: revoked.key,
    // The form is valid, but no account of this store has the key.
    unknown: generateKey('live'),
    mistyped: `${ample.slice(0, -1)}${ample.endsWith('a') ? 'b' : 'a'}`,
    none: null,
  };
  const shop: Shop = { keys, pets: new Map(), ids: [] };
  const answer = await ask(target, ample, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"name":"Rex","categoryId":1}',
  });
  noteAnimal(shop, await answer.text());
  return shop;
}

function ask({ url }: Target, key: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${url}/pets`, { ...init, headers: { ...init.headers, authorization: `Bearer ${key}` } });
}

/** Records an animal by its JSON and returns the parsed animal. */
export function noteAnimal(shop: Shop, text: string): Record<string, unknown> {
  const pet = parseExactJson(text) as Record<string, unknown>;
  const id = String(pet['id']);
  if (!shop.pets.has(id)) shop.ids.push(id);
  shop.pets.set(id, text);
  return pet;
}
