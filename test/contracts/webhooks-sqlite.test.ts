import { sqliteEngine } from '../support/engines.ts';
import { describeWebhooks } from './webhooks.ts';

describeWebhooks(sqliteEngine);
