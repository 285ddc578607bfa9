import { listDeeds } from './list-deeds.ts';

export const auditOperations = [listDeeds];
