import Type, { type TProperties } from 'typebox';
import { CategorySchema } from '../categories/categories.ts';
import { OrderSchema } from '../orders/order.ts';
import { PetSchema, somePetFields } from '../pets/pet.ts';
import { enumField, fixedText, namedObject, timeField } from '../schema.ts';

const petEventTypes = ['pet.added', 'pet.updated', 'pet.deleted'] as const;

const categoryEventTypes = ['category.updated', 'category.deleted'] as const;

export const orderEventTypes = [
  'order.reserved',
  'order.completed',
  'order.cancelled',
  'order.expired',
  'order.returned',
] as const;

export const catalogueEventTypes = [...petEventTypes, ...categoryEventTypes] as const;

export const eventTypes = [...catalogueEventTypes, ...orderEventTypes] as const;

export type EventType = (typeof eventTypes)[number];

const eventIdPattern = '^evt_[0-9A-Za-z]{16}$';
export const eventIdLength = 20;
export const eventIdExample = 'evt_0000000001G5cPz8';

export const eventIdField = (description: string) => fixedText(eventIdLength, eventIdPattern, description);

/** The id of an event, of a ping, or of a message that a later release adds. */
export const messageIdField = (description: string) =>
  Type.String({ minLength: 1, maxLength: 64, pattern: '^[0-9A-Za-z_]+$', description });

export const afterRule = 'must be "now" or the id of an event that this service returned';

export const EventTypeSchema = enumField(eventTypes, 'What may happen.', {
  title: 'EventType',
  about: 'The type of an event.',
});

/** A list of types. Its bound does not follow the number of types. In a response, the `item` is open. */
export const typesField = (description: string, item = EventTypeSchema) =>
  Type.Array(item, {
    minItems: 1,
    maxItems: 100,
    rule: `must be a list of at least one of ${eventTypes.join(', ')}`,
    description,
  });

/** An event id, or `now` for the end of the feed. */
export const afterField = (description: string) =>
  Type.String({
    minLength: 3,
    maxLength: eventIdLength,
    pattern: `^now$|${eventIdPattern}`,
    rule: afterRule,
    description,
    examples: [eventIdExample],
  });

const headOf = (types: readonly string[]) => ({
  id: eventIdField(
    'Unique identifier of the event. Ids of later events are greater, compared as ASCII text.',
  ),
  type: enumField(types, 'What happened.'),
  timestamp: timeField('When it happened, by the clock of the store.'),
});

const aboutPrevious = 'The previous values of the changed fields.';

const previousField = <P extends TProperties>(title: string, fields: P) =>
  Type.Optional({
    ...namedObject(title, aboutPrevious, fields, { minProperties: 1 }),
    description: aboutPrevious,
  });

export const PetEventSchema = namedObject('PetEvent', 'What happened to an animal.', {
  ...headOf(petEventTypes),
  data: PetSchema,
  previous: previousField('PetPrevious', somePetFields),
});

export const CategoryEventSchema = namedObject('CategoryEvent', 'What happened to a category.', {
  ...headOf(categoryEventTypes),
  data: CategorySchema,
  previous: previousField('CategoryPrevious', { name: Type.Optional(CategorySchema.properties.name) }),
});

export const OrderEventSchema = namedObject('OrderEvent', 'What happened to an order.', {
  ...headOf(orderEventTypes),
  data: OrderSchema,
});

/** An event that a later release adds. This release has none, but programs made from its description accept them. */
export const OtherEventSchema = namedObject('OtherEvent', 'An event of a type that a later release adds.', {
  id: messageIdField('Unique identifier of the event.'),
  type: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: '^[!-~]+$',
    not: { enum: [...eventTypes] },
    description: 'What happened: any other type.',
  }),
  timestamp: timeField('When it happened, by the clock of the store.'),
  data: Type.Object({}, { description: 'What the event is about.' }),
  previous: Type.Optional(Type.Object({}, { description: aboutPrevious })),
});

/** Any event. Its `type` determines the schema. */
export const EventSchema = Type.Union(
  [PetEventSchema, CategoryEventSchema, OrderEventSchema, OtherEventSchema],
  { title: 'StoreEvent', about: 'A change of the store. Later releases may add types.' },
);
