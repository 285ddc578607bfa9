import { sqliteEngine } from '../support/engines.ts';
import { describeCatalogue } from './catalogue.ts';

describeCatalogue(sqliteEngine);
