import { findPostgres } from '../support/engines.ts';
import { describeActs } from './acts.ts';

describeActs(await findPostgres());
