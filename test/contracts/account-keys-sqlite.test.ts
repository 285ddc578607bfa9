import { sqliteEngine } from '../support/engines.ts';
import { describeAccountKeys } from './account-keys.ts';

describeAccountKeys(sqliteEngine);
