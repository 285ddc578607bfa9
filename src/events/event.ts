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

export const afterRule = 'must be "now" or the id of an event that this service returned';

const EventTypeSchema = enumField(eventTypes, 'What may happen.', {
  title: 'EventType',
  about: 'The type of an event.',
});

/** A list of types in a request. Its bound does not follow the number of types. */
export const typesField = (description: string) =>
  Type.Array(EventTypeSchema, {
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

/** Any event. Its `type` determines the schema. */
export const EventSchema = Type.Union([PetEventSchema, CategoryEventSchema, OrderEventSchema], {
  title: 'StoreEvent',
  about: 'A change of the store. Later releases may add types.',
});
