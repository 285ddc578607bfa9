import { sqliteEngine } from '../support/engines.ts';
import { describeOperatorChanges } from './operator-changes.ts';

describeOperatorChanges(sqliteEngine);
