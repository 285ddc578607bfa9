import { sqliteEngine } from '../support/engines.ts';
import { describeOverdueHolds } from './overdue-holds.ts';

describeOverdueHolds(sqliteEngine);
