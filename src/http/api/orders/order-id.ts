import Type from 'typebox';
import { parseCanonicalInt64 } from '../../../int64.ts';
import { orderNotFound } from '../../../orders/close-order.ts';
import { int64Field } from '../../../schema.ts';

export const OrderParams = Type.Object({
  orderId: { ...int64Field('Identifier of the order.'), examples: [7] },
});

/**
 * Returns the order id in the path. Throws `not_found` if it is not a canonical int64, because no order can have such
 * an id.
 */
export function readOrderId({ orderId = '' }: Readonly<Record<string, string | undefined>>): bigint {
  const id = parseCanonicalInt64(orderId);
  if (id === null) throw orderNotFound();
  return id;
}
