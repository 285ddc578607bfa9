import { findPostgres } from '../support/engines.ts';
import { describeInventory } from './inventory.ts';

describeInventory(await findPostgres());
