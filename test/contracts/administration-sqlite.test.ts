import { sqliteEngine } from '../support/engines.ts';
import { describeAdministration } from './administration.ts';

describeAdministration(sqliteEngine);
