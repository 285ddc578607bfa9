import { callingKey } from '../account/examples.ts';

/** A key in the list. */
export const listedKey = {
  ...callingKey,
  start: 'as_live_7Qp1',
  state: 'active',
  createdAt: '2027-01-02T11:40:00.000Z',
  lastUsedAt: '2027-01-02T12:00:00.000Z',
};

/** A new key with its text. The checksum is wrong on purpose, so that secret scanners do not report the key. */
export const issuedKey = { ...listedKey, lastUsedAt: null, key: 'as_live_7Qp1RmVx2cLw9tYb4NkDsExample' };
