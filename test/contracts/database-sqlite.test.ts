import { sqliteEngine } from '../support/engines.ts';
import { describeDatabase } from './database.ts';
import { describeLoad } from './database-load.ts';
import { describeOpening } from './database-opening.ts';

describeDatabase(sqliteEngine);
describeLoad(sqliteEngine);
describeOpening(sqliteEngine);
