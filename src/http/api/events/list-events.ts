import Type from 'typebox';
import { EventSchema, eventIdPattern } from '../../../events/event.ts';
import { waitSecondsMax } from '../../../events/feed.ts';
import { unknownEvent } from '../../../events/feed-page.ts';
import { writeEvents } from '../../../events/write-events.ts';
import { after as then } from '../../../soon.ts';
import { defineOperation } from '../../operation.ts';
import { readerOf } from './event-reader.ts';
import { eventIdExample, orderReserved, petAdded, petUpdated } from './examples.ts';

const defaultLimit = 20;
const limitMax = 100;

const ListEventsQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      minLength: 3,
      maxLength: 20,
      pattern: `^now$|${eventIdPattern}`,
      rule: unknownEvent().message.replace('after ', ''),
      description:
        'Returns the events after this one: an event id, or `now` for the end of the feed. Default: from the oldest event on.',
      examples: [eventIdExample],
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limitMax,
      default: defaultLimit,
      description: 'Maximum number of events returned.',
      examples: [20],
    }),
  ),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: waitSecondsMax,
      default: 0,
      description: 'How many seconds an empty page may wait for an event.',
      examples: [0],
    }),
  ),
});

/** `GET /events`: returns a page of the feed, or waits for an event (contract section 13). */
export const listEvents = defineOperation({
  id: 'listEvents',
  method: 'GET',
  path: '/events',
  tag: 'events',
  scope: ['pets:read', 'orders:read'],
  stability: 'beta',
  summary: 'List events',
  description:
    'Returns every change, oldest first. The scope `pets:read` shows animals and categories, `orders:read` the orders of the account, and `orders:manage` all orders. Always follow the `Link` with `rel="next"`: an empty page is the current end. With `wait`, the answer waits until an event happens. Events are kept for 30 days.',
  query: ListEventsQuery,
  answers: {
    200: {
      description: 'A page of events.',
      body: Type.Array(EventSchema, { maxItems: limitMax }),
      headers: ['NextLink'],
      examples: {
        page: { summary: 'An animal is added and ordered', value: [petAdded, petUpdated, orderReserved] },
        empty: { summary: 'Nothing has happened since', value: [] },
      },
    },
  },
  failures: ['events_expired'],

  handle({ query, caller, onGone, noteHeld }, { feed, eventIds, baseUrl }) {
    const { after, limit = defaultLimit, wait } = query;
    const reader = readerOf(caller);
    const start = after === undefined ? 'oldest' : after === 'now' ? after : eventIds.read(after);
    if (start === null) throw unknownEvent();
    const waiting = { seconds: wait ?? 0, keyId: caller.keyId, onGone, noteHeld };
    return then(feed.readOrWait({ start, limit }, reader, waiting), ({ events, next }) => {
      const keptWait = wait === undefined ? '' : `&wait=${wait}`;
      const link = `<${baseUrl}/events?after=${eventIds.write(next)}&limit=${limit}${keptWait}>; rel="next"`;
      return { status: 200, text: writeEvents(events, reader, eventIds), headers: { link } };
    });
  },
});
