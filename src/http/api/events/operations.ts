import type { Operation } from '../../operation.ts';
import { listEvents } from './list-events.ts';

/** Contract section 13. */
export const eventOperations: readonly Operation[] = [listEvents];
