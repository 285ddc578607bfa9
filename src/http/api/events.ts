import Type from 'typebox';
import { type Caller, coversScope } from '../../accounts/account.ts';
import { AppError, notFound } from '../../errors.ts';
import {
  afterField,
  EventSchema,
  type EventType,
  eventIdExample,
  eventIdField,
  typesField,
} from '../../events/event.ts';
import { writeEvent, writeEvents } from '../../events/event-json.ts';
import { canReadType, type EventReader } from '../../events/event-reader.ts';
import { waitSecondsMax } from '../../events/feed.ts';
import { expiredEvent, expiredEvents, unknownEvent } from '../../events/feed-page.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { dogs } from './categories.ts';
import { orderExamples } from './orders.ts';
import { answer, defaultLimit, defineParameter, example, limitField, limitMax } from './parts.ts';
import { rex } from './pets.ts';

const rexOrdered = { ...rex, status: 'pending' };
/** What each type of event is about. */
const abouts: Readonly<Record<EventType, { readonly data: object; readonly previous?: object }>> = {
  'pet.added': { data: rex },
  'pet.updated': { data: rexOrdered, previous: { status: 'available' } },
  'pet.deleted': { data: rex },
  'category.updated': { data: dogs, previous: { name: 'Dog' } },
  'category.deleted': { data: dogs },
  'order.reserved': { data: orderExamples.reserved },
  'order.completed': { data: orderExamples.completed },
  'order.cancelled': { data: orderExamples.cancelled },
  'order.expired': { data: orderExamples.expired },
  'order.returned': { data: orderExamples.returned },
};

/** The ends of the ids of the examples, which have increasing positions. */
const idEnds = '1G5cPz8 2Kd9Wq3 3Rn1Xv6 4Bt7Lm2 5Yc4Hs0 6Jf8Ta5 7Qe2Zu9 8Mw6Dk1 9Vp3Gb7 AXs5Nr4'.split(' ');
export const eventExamples = Object.fromEntries(
  Object.entries(abouts).map(([type, about], index) => {
    const id = `${eventIdExample.slice(0, -(idEnds[0] ?? '').length)}${idEnds[index]}`;
    return [type, { id, type, timestamp: `2027-01-02T12:00:00.${100 + index}Z`, ...about }];
  }),
) as Readonly<Record<EventType, object>>;

const page = Type.Array(EventSchema, { maxItems: limitMax });
const ordered = [eventExamples['pet.added'], eventExamples['pet.updated'], eventExamples['order.reserved']];
const examples = {
  page: example('An animal is added and ordered', ordered),
  empty: example('Nothing has happened since', []),
};

const eventId = defineParameter(
  'eventId',
  'event',
  { ...eventIdField('Identifier of the event.'), examples: [eventIdExample] },
  (text) => text,
);

/** Returns the rights of a caller to read events. */
export function eventReaderOf({ accountId, scopes }: Caller): EventReader {
  const seesOwn = coversScope(scopes, 'orders:read');
  return {
    accountId,
    seesPets: scopes.includes('pets:read'),
    seesOrders: scopes.includes('orders:manage') ? 'all' : seesOwn ? 'own' : 'none',
  };
}

/** Returns each type once. Throws `scope_missing` for a type that the reader may not read. */
function requireReadable(types: readonly EventType[], reader: EventReader): readonly EventType[] {
  const foreign = types.find((type) => !canReadType(reader, type));
  if (foreign !== undefined)
    throw new AppError('scope_missing', `type: this API key may not read ${foreign}`);
  return [...new Set(types)];
}

export const eventOperations: readonly Operation[] = [
  defineOperation('listEvents', 'GET /events', ['pets:read', 'orders:read'], {
    guide: 'events',
    summary: 'List events',
    description:
      'Returns every change, oldest first. The scope `pets:read` shows animals and categories, `orders:read` the orders of the account, and `orders:manage` all orders. Always follow the `Link` with `rel="next"`: an empty page is the current end. With `type`, the pages and their links pass over all other events; a page reads at most `limit` events of each type. With `wait`, the response waits until an event happens. Events are kept for 30 days.',
    query: Type.Object({
      after: Type.Optional(
        afterField(
          'Returns the events after this one: an event id, or `now` for the end of the feed. Default: from the oldest event on.',
        ),
      ),
      type: Type.Optional({
        ...typesField('Only events of these types, separated by commas. Default: all that the key may read.'),
        examples: [['pet.added', 'order.expired']],
      }),
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

    async handle({ query: { after, type, limit = defaultLimit, wait }, caller, onGone, noteHeld }, services) {
      const { feed, eventIds, baseUrl } = services;
      const reader = eventReaderOf(caller);
      const start = after === undefined ? 'oldest' : after === 'now' ? after : eventIds.read(after);
      if (start === null) throw unknownEvent();
      const types = type === undefined ? null : requireReadable(type, reader);
      const waiting = { seconds: wait ?? 0, keyId: caller.keyId, onGone, noteHeld };
      const { events, next } = await feed.readOrWait({ start, limit, types }, reader, waiting);
      const keptTypes = types === null ? '' : `&type=${types.join()}`;
      const kept = `&limit=${limit}${keptTypes}${wait === undefined ? '' : `&wait=${wait}`}`;
      const link = `<${baseUrl}/events?after=${eventIds.write(next)}${kept}>; rel="next"`;
      return { status: 200, text: writeEvents(events, reader, eventIds), headers: { link } };
    },
  }),

  defineOperation('getEvent', 'GET /events/{eventId}', ['pets:read', 'orders:read'], {
    guide: 'events',
    summary: 'Get an event',
    description:
      'Returns one event. 404 if there was never such an event, or if the key may not read it; 410 once it is no longer kept.',
    params: eventId,
    answers: answer(200, 'The requested event.', EventSchema, {
      event: example('An animal is ordered', eventExamples['pet.updated']),
    }),
    failures: { events_expired: expiredEvent().message },

    async handle({ params, caller }, { feed, eventIds }) {
      const reader = eventReaderOf(caller);
      const position = eventIds.read(eventId.read(params));
      const found = position === null ? null : await feed.getEvent(position, reader);
      if (found === null) throw notFound('eventId', 'event');
      return { status: 200, text: writeEvent(found, reader, eventIds) };
    },
  }),
];
