import { reserved } from '../orders/examples.ts';
import { rex } from '../pets/examples.ts';

export const eventIdExample = 'evt_0000000001G5cPz8';

export const petAdded = {
  id: eventIdExample,
  type: 'pet.added',
  timestamp: '2027-01-02T11:58:00.000Z',
  data: rex,
};
export const petUpdated = {
  id: 'evt_0000000001HtM2kQ',
  type: 'pet.updated',
  timestamp: '2027-01-02T12:00:00.000Z',
  data: { ...rex, status: 'pending' },
  previous: { status: 'available' },
};
export const orderReserved = {
  id: 'evt_0000000001IxL0a7',
  type: 'order.reserved',
  timestamp: '2027-01-02T12:00:00.000Z',
  data: reserved,
};
