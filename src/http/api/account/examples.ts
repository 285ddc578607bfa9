export const callingKey = {
  id: 'key_3kTMd8fZq1LxW0aB',
  name: 'Warehouse',
  scopes: ['pets:read', 'orders:read', 'orders:write'],
  expiresAt: null,
};

export const accountExample = {
  account: 'Acme Zoo',
  plan: 'pro',
  key: callingKey,
  minute: { limit: 300, remaining: 299, resetAt: '2027-01-02T12:01:00.000Z' },
  day: { limit: 10_000, remaining: 8_412, resetAt: '2027-01-03T07:30:00.000Z' },
  openHolds: 2,
};
