import { findPostgres } from '../support/engines.ts';
import { describeAdministration } from './administration.ts';

describeAdministration(await findPostgres());
