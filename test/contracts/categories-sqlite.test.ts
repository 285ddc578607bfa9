import { sqliteEngine } from '../support/engines.ts';
import { describeCategories } from './categories.ts';

describeCategories(sqliteEngine);
