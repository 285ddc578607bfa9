import Type from 'typebox';
import { type Caller, coversScope } from '../../accounts/account.ts';
import { afterField, EventSchema, type EventType, eventIdExample } from '../../events/event.ts';
import { writeEvents } from '../../events/event-json.ts';
import type { EventReader } from '../../events/event-reader.ts';
import { waitSecondsMax } from '../../events/feed.ts';
import { expiredEvents, unknownEvent } from '../../events/feed-page.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { dogs } from './categories.ts';
import { orderExamples } from './orders.ts';
import { answer, defaultLimit, example, limitField, limitMax } from './parts.ts';
import { rex } from './pets.ts';

function event(type: EventType, data: object, previous?: object) {
  const timestamp = '2027-01-02T12:00:00.000Z';
  return { id: eventIdExample, type, timestamp, data, ...(previous && { previous }) };
}

export const eventExamples: Readonly<Record<EventType, object>> = {
  'pet.added': event('pet.added', rex),
  'pet.updated': event('pet.updated', { ...rex, status: 'pending' }, { status: 'available' }),
  'pet.deleted': event('pet.deleted', rex),
  'category.updated': event('category.updated', dogs, { name: 'Dog' }),
  'category.deleted': event('category.deleted', dogs),
  'order.reserved': event('order.reserved', orderExamples.reserved),
  'order.completed': event('order.completed', orderExamples.completed),
  'order.cancelled': event('order.cancelled', orderExamples.cancelled),
  'order.expired': event('order.expired', orderExamples.expired),
  'order.returned': event('order.returned', orderExamples.returned),
};

const page = Type.Array(EventSchema, { maxItems: limitMax });
const ordered = [eventExamples['pet.added'], eventExamples['pet.updated'], eventExamples['order.reserved']];
const examples = {
  page: example('An animal is added and ordered', ordered),
  empty: example('Nothing has happened since', []),
};

/** Returns the rights of a caller to read events. */
export function readerOf({ accountId, scopes }: Caller): EventReader {
  const seesOwn = coversScope(scopes, 'orders:read');
  return {
    accountId,
    seesPets: scopes.includes('pets:read'),
    seesOrders: scopes.includes('orders:manage') ? 'all' : seesOwn ? 'own' : 'none',
  };
}

export const eventOperations: readonly Operation[] = [
  defineOperation('listEvents', 'GET /events', ['pets:read', 'orders:read'], {
    summary: 'List events',
    description:
      'Returns every change, oldest first. The scope `pets:read` shows animals and categories, `orders:read` the orders of the account, and `orders:manage` all orders. Always follow the `Link` with `rel="next"`: an empty page is the current end. With `wait`, the answer waits until an event happens. Events are kept for 30 days.',
    query: Type.Object({
      after: Type.Optional(
        afterField(
          'Returns the events after this one: an event id, or `now` for the end of the feed. Default: from the oldest event on.',
        ),
      ),
      limit: limitField('events'),
      wait: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: waitSecondsMax,
          default: 0,
          description: 'How many seconds an empty page may wait for an event.',
          examples: [0],
        }),
      ),
    }),
    answers: answer(200, 'A page of events.', page, examples, ['NextLink']),
    failures: { events_expired: expiredEvents().message },

    async handle({ query: { after, limit = defaultLimit, wait }, caller, onGone, noteHeld }, services) {
      const { feed, eventIds, baseUrl } = services;
      const reader = readerOf(caller);
      const start = after === undefined ? 'oldest' : after === 'now' ? after : eventIds.read(after);
      if (start === null) throw unknownEvent();
      const waiting = { seconds: wait ?? 0, keyId: caller.keyId, onGone, noteHeld };
      const { events, next } = await feed.readOrWait({ start, limit }, reader, waiting);
      const keptWait = wait === undefined ? '' : `&wait=${wait}`;
      const link = `<${baseUrl}/events?after=${eventIds.write(next)}&limit=${limit}${keptWait}>; rel="next"`;
      return { status: 200, text: writeEvents(events, reader, eventIds), headers: { link } };
    },
  }),
];
