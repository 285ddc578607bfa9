import { listEntries } from './list-entries.ts';

export const auditOperations = [listEntries];
