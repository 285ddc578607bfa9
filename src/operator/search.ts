import { findAccounts } from '../accounts/accounts.ts';
import type { Keyring } from '../accounts/keyring.ts';
import { parseCanonicalInt64 } from '../int64.ts';
import { everyAccount, type Orders } from '../orders/orders.ts';
import type { Catalogue } from '../pets/catalogue.ts';
import type { Database } from '../storage/database.ts';
import { findRequests } from '../usage/failed-requests.ts';
import { findWebhook } from '../webhooks/operator-webhooks.ts';

/** What a search finds, in the order of its result. */
export const hitKinds = ['account', 'key', 'animal', 'order', 'webhook', 'request'] as const;

export type HitKind = (typeof hitKinds)[number];

/** Maximum number of hits of each kind. */
export const hitsMax = 10;

/** One thing that a search has found. */
export interface Hit {
  readonly kind: HitKind;
  /** What identifies it: the name of an account, else its id. */
  readonly id: string;
  /** The name of a key or an animal, the reference of an order, the URL of a webhook, or the operation of a request. */
  readonly label: string | null;
  /** The account that it belongs to. */
  readonly account: string | null;
  readonly state: string;
  /** True if its id or its whole name was typed, and not only the start of its name. */
  readonly isExact: boolean;
}

interface Rooms {
  readonly keyring: Pick<Keyring, 'listByStart'>;
  readonly catalogue: Pick<Catalogue, 'get' | 'listByStart'>;
  readonly orders: Pick<Orders, 'find'>;
  readonly database: Database;
}

/**
 * Finds accounts and animals by the start of their names, keys by that of their name or of their text as it is shown, and
 * everything by its id. The case of names does not matter. `more` has the kinds of which there are more than `hitsMax`.
 * Names of animals are found among the newest million, which are read. Every other look-up reads an index.
 */
export async function search(rooms: Rooms, typed: string) {
  const text = hideSecret(typed.trim().replace(/…$/, ''));
  if (text === '') return { items: [], more: [] };
  const found = await Promise.all(hitKinds.map((kind) => finders[kind](rooms, text)));
  const items = found.flatMap((hits, place): Hit[] =>
    hits.slice(0, hitsMax).map((hit) => ({ kind: hitKinds[place] as HitKind, ...hit })),
  );
  const more = hitKinds.filter((_, place) => (found[place] ?? []).length > hitsMax);
  return { items, more };
}

/** Of a whole key that somebody pastes, only the start counts that may be shown. */
function hideSecret(text: string): string {
  return text.replace(/^(as_[a-z]+_[0-9A-Za-z]{4})[0-9A-Za-z]+$/, '$1');
}

const equal = (name: string | null, text: string) => name?.toLowerCase() === text.toLowerCase();
const count = hitsMax + 1;

type Finder = (rooms: Rooms, text: string) => Promise<readonly Omit<Hit, 'kind'>[]>;

const finders: Readonly<Record<HitKind, Finder>> = {
  async account({ database }, text) {
    const found = await findAccounts(database, text, count);
    return found.map(({ account, isSuspended }) => ({
      id: account,
      label: null,
      account,
      state: isSuspended ? 'suspended' : 'active',
      isExact: equal(account, text),
    }));
  },

  async key({ keyring }, text) {
    const found = await keyring.listByStart(text, count);
    return found.map(({ id, name, visibleStart, account, state, bannedUntilMs }) => ({
      id,
      label: name === null ? `${visibleStart}…` : `${visibleStart}… ${name}`,
      account,
      state: bannedUntilMs === null ? state : 'banned',
      isExact: id === text || visibleStart === text || equal(name, text),
    }));
  },

  async animal({ catalogue }, text) {
    const id = parseCanonicalInt64(text);
    const [one, named] = await Promise.all([
      id === null ? null : catalogue.get(id),
      catalogue.listByStart(text, count),
    ]);
    const all = one === null ? named : [one, ...named.filter((pet) => pet.id !== one.id)];
    return all.map((pet) => ({
      id: String(pet.id),
      label: pet.name,
      account: null,
      state: pet.status,
      isExact: pet.id === id || equal(pet.name, text),
    }));
  },

  async order({ orders }, text) {
    const id = parseCanonicalInt64(text);
    const order = id === null ? null : await orders.find(id, everyAccount);
    if (order === null) return [];
    const { status: state, reference: label = null, account = null } = order;
    return [{ id: text, label, account, state, isExact: true }];
  },

  async webhook({ database }, text) {
    const webhook = text.startsWith('wh_') ? await findWebhook(database, text) : null;
    if (webhook === null) return [];
    const { id, url: label, account, status: state } = webhook;
    return [{ id, label, account, state, isExact: true }];
  },

  async request({ database }, text) {
    const found = await findRequests(database, text, count);
    return found.map(({ operation: label, account, code, status }) => ({
      id: text,
      label,
      account,
      state: code ?? `slow ${status}`,
      isExact: true,
    }));
  },
};
