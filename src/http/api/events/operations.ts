import type { Operation } from '../../operation.ts';
import { listEvents } from './list-events.ts';

/** The operations on the feed of events (contract section 13). */
export const eventOperations: readonly Operation[] = [listEvents];
