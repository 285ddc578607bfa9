import { findPostgres } from '../support/engines.ts';
import { describeOperatorChanges } from './operator-changes.ts';

describeOperatorChanges(await findPostgres());
