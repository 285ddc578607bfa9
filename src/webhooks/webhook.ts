import Type, { type Static, type TSchema } from 'typebox';
import {
  afterField,
  type EventType,
  EventTypeSchema,
  eventIdExample,
  eventIdField,
  eventTypes,
  messageIdField,
  typesField,
} from '../events/event.ts';
import type { EventIds } from '../events/event-ids.ts';
import { type EventReader, narrowReader } from '../events/event-reader.ts';
import { unknownEvent } from '../events/feed-page.ts';
import { toTime } from '../format.ts';
import { enumField, fixedText, namedObject, nullable, openEnum, timeField } from '../schema.ts';
import { answerBytesMax } from './rules/answer-start.ts';
import { targetUrlRule, urlLengthMax } from './rules/target-url.ts';
import type { WebhookRow } from './webhook-rows.ts';

/** Of an account. */
export const webhooksMax = 5n;

/** A disabled webhook keeps its position. It receives pings, but no events. */
const webhookStatuses = ['enabled', 'disabled'] as const;
export type WebhookStatus = (typeof webhookStatuses)[number];

export const attemptFailures = ['timeout', 'refused', 'dns', 'blocked_address', 'tls'] as const;
export type AttemptFailure = (typeof attemptFailures)[number];

/**
 * Why a webhook is disabled. `gone`: it answered 410. `failing`: it failed for too long, or its events expired. `restored`: its
 * store was restored, and an operator has not resumed it.
 */
const disabledReasons = ['owner', 'operator', 'gone', 'failing', 'restored'] as const;
export type DisabledReason = (typeof disabledReasons)[number];
export const webhookIdPattern = '^wh_[0-9A-Za-z]{16}$';

const urlField = Type.String({
  format: 'uri',
  minLength: 1,
  maxLength: urlLengthMax,
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[!-~]+$',
  rule: targetUrlRule,
  description: 'The URL that gets the events: `https`, or in development also `http`.',
  examples: ['https://partner.example.com/animals'],
});

/** Returns a schema that allows null or the object with a name in `/openapi.json`. */
const orNull = <T>(schema: TSchema) =>
  Type.Unsafe<T | null>({ anyOf: [schema, { type: 'null' }], description: schema['description' as never] });

const attemptFields = {
  at: timeField('When the attempt ended, by the clock of the store.'),
  result: Type.Unsafe<number | AttemptFailure>({
    anyOf: [
      { type: 'integer', format: 'int32', minimum: 100, maximum: 999 },
      openEnum(enumField(attemptFailures, 'Why there was no answer.')),
    ],
    description: 'The HTTP status of the answer, or why there was no answer.',
  }),
};

const LastAttemptSchema = namedObject(
  'LastAttempt',
  'The result of the last attempt to send a message.',
  attemptFields,
);

export const AttemptSchema = namedObject('WebhookAttempt', 'An attempt to send a message to a webhook.', {
  eventId: messageIdField('The `webhook-id` of the message: the id of the event or of the ping.'),
  ...attemptFields,
  durationMs: Type.Integer({
    format: 'int32',
    minimum: 0,
    maximum: 60_000,
    description: 'How long the attempt took, in milliseconds.',
  }),
  attempt: nullable(
    Type.Integer({
      format: 'int32',
      minimum: 1,
      maximum: 2_147_483_647,
      description:
        'Which attempt of this event it was: 1 for the first. Null if a release before this field made it.',
    }),
  ),
  isManual: nullable(
    Type.Boolean({
      description:
        'True if a request or an operator asked to send it, false if the service sent it by itself. Null if a release before this field made it.',
    }),
  ),
  answerStart: nullable(
    Type.String({
      maxLength: answerBytesMax,
      description:
        'The first 1,000 bytes of the body of the answer, as UTF-8. Null if there was no answer, the body has a `Content-Encoding`, or the receiver is in a network that only the operator allows.',
    }),
  ),
});

export const WebhookSchema = namedObject('Webhook', 'A URL that the service sends events to.', {
  id: fixedText(19, webhookIdPattern, 'Unique identifier assigned by the service on creation.'),
  url: urlField,
  types: typesField('The types of the events that are sent.', openEnum(EventTypeSchema)),
  keyId: Type.String({
    minLength: 1,
    maxLength: 64,
    pattern: '^[0-9A-Za-z_]+$',
    description: 'Identifier of the API key that created the webhook.',
  }),
  status: openEnum(enumField(webhookStatuses, 'Whether events are sent.')),
  disabledBecause: nullable(
    openEnum(
      enumField(
        disabledReasons,
        'Why no events are sent: the `owner` or the `operator` disabled the webhook, its receiver is `gone` (it answered 410), it was `failing` for too long, or the store was `restored` from a backup. Null while the webhook is enabled.',
      ),
    ),
  ),
  after: orNull<string>(
    eventIdField('The last event that was answered with 2xx or passed over; null before the first.'),
  ),
  lastAttempt: orNull<Static<typeof LastAttemptSchema>>({
    ...LastAttemptSchema,
    description: 'The result of the last attempt; null before the first.',
  }),
  nextAttemptAt: nullable(
    timeField(
      'When the event after `after` is sent again, because its last attempt has failed. Null while no retry waits.',
    ),
  ),
});

export const WebhookWithSecretSchema = namedObject('WebhookWithSecret', 'A webhook with its new secret.', {
  ...WebhookSchema.properties,
  secret: fixedText(
    50,
    '^whsec_[0-9A-Za-z+/]{43}=$',
    'The secret that signs the requests. It is shown only once.',
  ),
});

export const NewWebhookSchema = namedObject('NewWebhook', 'A new webhook.', {
  url: urlField,
  types: Type.Optional(typesField('The types of the events to send. If absent, all that the key may read.')),
});

export const AfterSchema = afterField(
  'The event after which the webhook continues, or `now` for the newest.',
);

export const WebhookPatchSchema = namedObject(
  'WebhookPatch',
  'A change of a webhook. Absent fields stay as they are.',
  {
    url: Type.Optional(urlField),
    types: Type.Optional(typesField('The types of the events to send.')),
    status: Type.Optional(enumField(webhookStatuses, 'Whether events are sent.')),
    after: Type.Optional(AfterSchema),
  },
);

export const SendSchema = namedObject('EventToSend', 'An event to send once more.', {
  eventId: {
    ...eventIdField('The id of an event that the webhook may receive.'),
    rule: 'must be the id of an event that this service returned',
    examples: [eventIdExample],
  },
});

export type Attempt = Static<typeof AttemptSchema>;
export type Webhook = Static<typeof WebhookSchema>;

/** Reads a value of `AfterSchema`. Throws `invalid_body` for an id that this service did not create. */
export function readAfter(text: string, ids: EventIds): bigint | 'now' {
  const position = text === 'now' ? text : ids.read(text);
  if (position === null) throw unknownEvent('invalid_body');
  return position;
}

/** Returns the position of an event, or -1 for an id that this service did not create. */
export function readEventId(eventId: string, ids: EventIds): bigint {
  return ids.read(eventId) || -1n;
}

/** Returns the id of the event at a position. Returns null at position 0, which is before the first event. */
export function writeAfter(position: bigint, ids: EventIds): string | null {
  return position === 0n ? null : ids.write(position);
}

export function toWebhook(row: WebhookRow, ids: EventIds): Webhook {
  const { position, last_attempt_at_ms: atMs, last_result: result } = row;
  const lastAttempt = atMs === null || result === null ? null : toResult(atMs, result);
  const nextAttemptAt = toTime(readNextAttemptMs(row));
  return { ...toShared(row), after: writeAfter(position, ids), lastAttempt, nextAttemptAt };
}

/** Returns when the next retry comes, in Unix milliseconds. Null if none waits. */
export function readNextAttemptMs(row: WebhookRow): bigint | null {
  return row.status === 'enabled' && row.failures > 0n ? row.next_attempt_at_ms : null;
}

export function toShared(row: WebhookRow): Omit<Webhook, 'after' | 'lastAttempt' | 'nextAttemptAt'> {
  return {
    id: row.public_id,
    url: row.url,
    types: [...readTypes(row.types)],
    keyId: row.key_id,
    status: row.status as WebhookStatus,
    disabledBecause: readReason(row),
  };
}

/** Returns why a webhook is disabled. An instance of 1.1.0 leaves the stored reason when it enables a webhook. */
export function readReason(row: Pick<WebhookRow, 'status' | 'disabled_because'>): DisabledReason | null {
  return row.status === 'disabled' ? (row.disabled_because as DisabledReason | null) : null;
}

export function toResult(atMs: bigint, result: string): Static<typeof LastAttemptSchema> {
  const shown = /^\d+$/.test(result) ? Number(result) : (result as AttemptFailure);
  return { at: new Date(Number(atMs)).toISOString(), result: shown };
}

/** Parses the stored types of a webhook, separated by spaces, in the order of `eventTypes`. Ignores unknown names. */
function readTypes(stored: string): readonly EventType[] {
  const names = stored.split(' ');
  return eventTypes.filter((type) => names.includes(type));
}

/** Returns the rights that the key had when it created the webhook. */
export function makerOf({ account_id, sees_pets, sees_orders }: WebhookRow): EventReader {
  return {
    accountId: account_id,
    seesPets: sees_pets === 1n,
    seesOrders: sees_orders as EventReader['seesOrders'],
  };
}

/** Returns the rights of a webhook: those of the key that created it, limited to the types of the webhook. */
export function webhookReaderOf(row: WebhookRow, types = readTypes(row.types)): EventReader {
  return narrowReader(makerOf(row), types);
}
