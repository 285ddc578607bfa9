import { sqliteEngine } from '../support/engines.ts';
import { describeOrders } from './orders.ts';

describeOrders(sqliteEngine);
