import { sqliteEngine } from '../support/engines.ts';
import { describeCatalogue } from './catalogue.ts';
import { describeIdempotency } from './catalogue-idempotency.ts';

describeCatalogue(sqliteEngine);
describeIdempotency(sqliteEngine);
