import { sqliteEngine } from '../support/engines.ts';
import { describeInventory } from './inventory.ts';

describeInventory(sqliteEngine);
