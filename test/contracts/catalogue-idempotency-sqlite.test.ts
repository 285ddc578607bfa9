import { sqliteEngine } from '../support/engines.ts';
import { describeIdempotency } from './catalogue-idempotency.ts';

describeIdempotency(sqliteEngine);
