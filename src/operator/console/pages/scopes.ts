import type { Scope } from '../../../accounts/account.ts';

/** What each scope gives to a key. */
export const scopeTexts: Readonly<Record<Scope, string>> = {
  'pets:read': 'list and get animals',
  'pets:write': 'add animals',
  'pets:manage': 'change and delete animals, name categories',
  'orders:read': "the account's own orders",
  'orders:write': "place, complete and cancel the account's orders",
  'orders:manage': 'the orders of every account',
  'webhooks:manage': "the account's webhooks",
  'keys:manage': "the account's keys",
};
