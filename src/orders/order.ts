import Type, { type Static } from 'typebox';
import { dayMs, minuteMs, secondMs } from '../clock.ts';
import { stringifyExactJson } from '../exact-json.ts';
import { compileObject, enumField, int64Field, nameField, timeField, wholeNumberField } from '../schema.ts';

/** What an order may be (contract section 12). While it is `reserved` or `completed` it owns its animal. */
export const orderStatuses = ['reserved', 'completed', 'cancelled', 'expired', 'returned'] as const;

/** One of `orderStatuses`. */
export type OrderStatus = (typeof orderStatuses)[number];

/** The bounds of `holdSeconds`. */
export const holdSeconds = {
  min: minuteMs / secondMs,
  max: dayMs / secondMs,
  /** For keys with `orders:manage`. */
  managedMax: (7 * dayMs) / secondMs,
  default: (15 * minuteMs) / secondMs,
} as const;

/** OrderStatus as a schema; case counts. */
export const OrderStatusSchema = enumField(orderStatuses, 'What has become of the order.');

const accountLengthMax = 100;

/** Contract section 12, Order. */
export const OrderSchema = Type.Object({
  id: int64Field('Unique identifier assigned by the service on creation.'),
  petId: int64Field('Identifier of the animal.'),
  status: OrderStatusSchema,
  reference: Type.Optional(nameField("The client's own number, if it gave one.", 'A-1017')),
  createdAt: timeField('When the order was placed.'),
  expiresAt: timeField('When the hold ends, or would have ended.'),
  closedAt: Type.Optional(
    timeField('Since when the order has its present status; absent while it is reserved.'),
  ),
  account: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: accountLengthMax,
      pattern: '^[^\\x00-\\x1f\\x7f]+$',
      description: 'Whose order it is; told to keys with `orders:manage` alone.',
    }),
  ),
});

/** Contract section 12, NewOrder. */
export const NewOrderSchema = Type.Object({
  petId: int64Field('Identifier of the animal to be reserved.'),
  holdSeconds: Type.Optional({
    ...wholeNumberField('How long the animal is held. Beyond 86,400 only with the scope `orders:manage`.', {
      minimum: holdSeconds.min,
      maximum: holdSeconds.managedMax,
    }),
    default: holdSeconds.default,
  }),
  reference: Type.Optional(nameField("The client's own number for the order; need not be unique.", 'A-1017')),
});

/** An order to be placed, as it was sent. */
export type NewOrder = Static<typeof NewOrderSchema>;

/** An order, as its reader is shown it. */
export type Order = Static<typeof OrderSchema>;

const references = compileObject(Type.Object({ reference: NewOrderSchema.properties.reference }));

/** Whether a text may be an order's reference: the rules of a name. */
export function isReference(text: string): boolean {
  return references.accepts({ reference: text });
}

/** An order as its row holds it, with the name of its account; times are Unix milliseconds of the store's clock. */
export interface OrderRow {
  readonly id: bigint;
  readonly pet_id: bigint;
  /** As it is now: a hold whose end has come is `expired`, whether or not its row says so yet. */
  readonly status: string;
  readonly reference: string | null;
  readonly created_at_ms: bigint;
  readonly expires_at_ms: bigint;
  readonly closed_at_ms: bigint | null;
  readonly account: string | null;
}

/** The order in a row, its fields in the documented order. */
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

/** The text of an order, or of a page of them, as every answer has it. */
export function writeOrders(orders: Order | readonly Order[]): string {
  return stringifyExactJson(orders);
}

function formatTime(ms: bigint): string {
  return new Date(Number(ms)).toISOString();
}
