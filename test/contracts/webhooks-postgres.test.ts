import { findPostgres } from '../support/engines.ts';
import { describeWebhooks } from './webhooks.ts';

describeWebhooks(await findPostgres());
