import { findPostgres, sqliteEngine } from '../support/engines.ts';
import { describeCopy } from './copy-store.ts';
import { describeWholeStore } from './whole-store.ts';

const engines = [sqliteEngine, await findPostgres()];
for (const engine of engines) describeWholeStore(engine);
for (const from of engines) for (const to of engines) describeCopy(from, to);
