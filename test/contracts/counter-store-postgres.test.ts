import { findPostgres } from '../support/engines.ts';
import { describeCounterStore } from './counter-store.ts';

describeCounterStore(await findPostgres());
