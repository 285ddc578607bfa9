import { findPostgres } from '../support/engines.ts';
import { describeEvents } from './events.ts';

describeEvents(await findPostgres());
