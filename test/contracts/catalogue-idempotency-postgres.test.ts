import { findPostgres } from '../support/engines.ts';
import { describeIdempotency } from './catalogue-idempotency.ts';

describeIdempotency(await findPostgres());
