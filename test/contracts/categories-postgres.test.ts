import { findPostgres } from '../support/engines.ts';
import { describeCategories } from './categories.ts';

describeCategories(await findPostgres());
