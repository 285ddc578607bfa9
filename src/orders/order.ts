import type { Selectable } from 'kysely';
import Type, { type Static } from 'typebox';
import { dayMs, minuteMs, secondMs } from '../clock.ts';
import { enumField, int64Field, namedObject, nameField, timeField, wholeNumberField } from '../schema.ts';
import type { Tables } from '../storage/tables.ts';
import { compileObject } from '../violations.ts';

/** The statuses of an order (contract section 12). A `reserved` or `completed` order owns its animal. */
export const orderStatuses = ['reserved', 'completed', 'cancelled', 'expired', 'returned'] as const;

export type OrderStatus = (typeof orderStatuses)[number];

/** The bounds and the default of `holdSeconds` in a new order. */
export const holdSeconds = {
  min: minuteMs / secondMs,
  /** The minimum in development, so that a client can see a hold expire. */
  developmentMin: 1,
  max: dayMs / secondMs,
  /** The maximum for keys with `orders:manage`. */
  managedMax: (7 * dayMs) / secondMs,
  default: (15 * minuteMs) / secondMs,
} as const;

/** `OrderStatus` as a schema. It is case-sensitive. */
export const OrderStatusSchema = enumField(orderStatuses, 'The status of the order.', {
  title: 'OrderStatus',
  about: 'The status of an order.',
});

const accountLengthMax = 100;

/** An order, as responses and events show it (contract section 12). */
export const OrderSchema = namedObject('Order', 'A reservation of an animal and its outcome.', {
  id: int64Field('Unique identifier assigned by the service on creation.'),
  petId: int64Field('Identifier of the animal.'),
  status: OrderStatusSchema,
  reference: Type.Optional(nameField("The client's own number, if it gave one.", 'A-1017')),
  createdAt: timeField('When the order was placed.'),
  expiresAt: timeField('When the hold ends, or would have ended.'),
  closedAt: Type.Optional(timeField('When the order got its current status; absent while it is reserved.')),
  account: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: accountLengthMax,
      pattern: '^[^\\x00-\\x1f\\x7f]+$',
      description: 'The account of the order; only for keys with `orders:manage`.',
    }),
  ),
});

const newReference = nameField("The client's own number for the order; need not be unique.", 'A-1017');

/** Returns the schema of the request body that places an order (contract section 12). */
export function createNewOrderSchema(minimum: number) {
  return namedObject('NewOrder', 'A new order.', {
    petId: int64Field('Identifier of the animal to reserve.'),
    // Without `default`, because code generators make a field with a default required.
    holdSeconds: Type.Optional(
      wholeNumberField(
        `How many seconds the animal is held; ${holdSeconds.default} by default. More than 86,400 needs the scope \`orders:manage\`.`,
        { minimum, maximum: holdSeconds.managedMax },
      ),
    ),
    reference: Type.Optional(newReference),
  });
}

export type NewOrder = Static<ReturnType<typeof createNewOrderSchema>>;

export type Order = Static<typeof OrderSchema>;

const references = compileObject(Type.Object({ reference: newReference }));

/** Returns true if the text is a valid reference. A reference follows the same rules as a name. */
export function isReference(text: string): boolean {
  return references.accepts({ reference: text });
}

/** An order with the name of its account, and with its current status: an expired hold that is open is `expired`. */
export interface OrderRow extends Omit<Selectable<Tables['orders']>, 'account_id'> {
  readonly account: string | null;
}

/** Converts a row into an order with its fields in the documented order. */
export function toOrder(row: OrderRow, showsAccount: boolean): Order {
  return {
    id: row.id,
    petId: row.pet_id,
    status: row.status as OrderStatus,
    ...(row.reference !== null && { reference: row.reference }),
    createdAt: formatTime(row.created_at_ms),
    expiresAt: formatTime(row.expires_at_ms),
    ...(row.closed_at_ms !== null && { closedAt: formatTime(row.closed_at_ms) }),
    ...(showsAccount && row.account !== null && { account: row.account }),
  };
}

function formatTime(ms: bigint): string {
  return new Date(Number(ms)).toISOString();
}
