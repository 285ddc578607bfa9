import { findPostgres } from '../support/engines.ts';
import { describeCatalogue } from './catalogue.ts';
import { describeIdempotency } from './catalogue-idempotency.ts';

const postgres = await findPostgres();
describeCatalogue(postgres);
describeIdempotency(postgres);
