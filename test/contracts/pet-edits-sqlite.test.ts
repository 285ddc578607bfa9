import { sqliteEngine } from '../support/engines.ts';
import { describePetEdits } from './pet-edits.ts';

describePetEdits(sqliteEngine);
