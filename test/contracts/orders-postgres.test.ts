import { findPostgres } from '../support/engines.ts';
import { describeOrders } from './orders.ts';

describeOrders(await findPostgres());
