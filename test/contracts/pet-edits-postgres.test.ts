import { findPostgres } from '../support/engines.ts';
import { describePetEdits } from './pet-edits.ts';

describePetEdits(await findPostgres());
