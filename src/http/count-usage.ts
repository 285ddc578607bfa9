import type { UsageCounts } from '../usage/usage.ts';
import type { RequestObserver } from './request-log.ts';

/** Counts the requests of each account. Requests without a valid key are not counted. */
export function countUsage(usage: Pick<UsageCounts, 'note'>): RequestObserver {
  return {
    note({ caller }, status) {
      if (caller !== null) usage.note(caller, status);
    },
    noteMalformed: () => undefined,
  };
}
