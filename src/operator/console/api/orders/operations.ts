import { cancelOrder, returnOrder } from './close-order.ts';
import { listOrders } from './list-orders.ts';

export const orderOperations = [listOrders, cancelOrder, returnOrder];
