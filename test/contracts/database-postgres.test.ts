import { findPostgres } from '../support/engines.ts';
import { describeDatabase } from './database.ts';
import { describeLoad } from './database-load.ts';
import { describeOpening } from './database-opening.ts';

const postgres = await findPostgres();
describeDatabase(postgres);
describeLoad(postgres);
describeOpening(postgres);
