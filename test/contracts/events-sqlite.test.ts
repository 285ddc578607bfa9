import { sqliteEngine } from '../support/engines.ts';
import { describeEvents } from './events.ts';

describeEvents(sqliteEngine);
