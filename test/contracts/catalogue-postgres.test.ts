import { findPostgres } from '../support/engines.ts';
import { describeCatalogue } from './catalogue.ts';

describeCatalogue(await findPostgres());
