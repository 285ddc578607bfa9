/** The scopes of a key. `isPartners` is true for the default scopes of a partner's key. */
export const scopes = [
  { name: 'pets:read', gives: 'list and get animals', isPartners: true },
  { name: 'pets:write', gives: 'add animals', isPartners: true },
  { name: 'pets:manage', gives: 'change and delete animals, name categories', isPartners: false },
  { name: 'orders:read', gives: "the account's own orders", isPartners: true },
  { name: 'orders:write', gives: "place, complete and cancel the account's orders", isPartners: true },
  { name: 'orders:manage', gives: 'the orders of every account', isPartners: false },
  { name: 'webhooks:manage', gives: "the account's webhooks", isPartners: true },
  { name: 'keys:manage', gives: "the account's keys", isPartners: false },
];
