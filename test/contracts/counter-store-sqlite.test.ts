import { sqliteEngine } from '../support/engines.ts';
import { describeCounterStore } from './counter-store.ts';

describeCounterStore(sqliteEngine);
