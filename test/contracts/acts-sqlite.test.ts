import { sqliteEngine } from '../support/engines.ts';
import { describeActs } from './acts.ts';

describeActs(sqliteEngine);
