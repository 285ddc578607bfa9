import { findPostgres } from '../support/engines.ts';
import { describeAccountKeys } from './account-keys.ts';

describeAccountKeys(await findPostgres());
