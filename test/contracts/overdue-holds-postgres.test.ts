import { findPostgres } from '../support/engines.ts';
import { describeOverdueHolds } from './overdue-holds.ts';

describeOverdueHolds(await findPostgres());
