export const webhookIdExample = 'wh_8tKq2ZmX0aLr5VnC';

export const url = 'https://partner.example.com/animals';

export const enabled = {
  id: webhookIdExample,
  url,
  types: ['pet.added', 'pet.updated', 'order.expired'],
  status: 'enabled',
  after: 'evt_0000000001G5cPz8',
  lastAttempt: { at: '2027-01-02T12:00:00.300Z', result: 200 },
};
export const disabled = {
  ...enabled,
  status: 'disabled',
  lastAttempt: { at: '2027-01-02T12:00:00.300Z', result: 'timeout' },
};
export const fresh = { ...enabled, lastAttempt: null };
export const withSecret = { ...fresh, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' };
