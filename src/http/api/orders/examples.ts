export const reserved = {
  id: 7,
  petId: 42,
  status: 'reserved',
  reference: 'A-1017',
  createdAt: '2027-01-02T12:00:00.000Z',
  expiresAt: '2027-01-02T12:15:00.000Z',
};
export const completed = { ...reserved, status: 'completed', closedAt: '2027-01-02T12:03:20.512Z' };
export const cancelled = { ...completed, status: 'cancelled' };
export const returned = { ...completed, status: 'returned', account: 'Acme Zoo' };
