import type { Audit } from '../../audit/audit-log.ts';
import type { Environment } from '../../config.ts';
import type { Services } from '../../http/api/operations.ts';
import type { LookAtUsage } from '../../limits/counters.ts';
import type { Database } from '../../storage/database.ts';
import type { ChangeAs, Changes } from '../changes.ts';
import type { Vitals } from './vitals.ts';

/** The dependencies of the console's operations. The commands call the same functions. */
export interface ConsoleServices
  extends Pick<Services, 'catalogue' | 'countInventory' | 'orders' | 'categories' | 'eventIds' | 'clock'>,
    Pick<Changes, 'accounts' | 'keyring' | 'bans' | 'allWebhooks'> {
  readonly database: Database;
  readonly audit: Audit;
  readonly changeAs: ChangeAs;
  /** Reads the current usage of an account from the rate limit counters, which instances may share. */
  readonly look: LookAtUsage;
  readonly vitals: Vitals;
  readonly environment: Environment;
  /** Returns the problems that make this instance not ready, and warnings for the operator. */
  readonly readHealth: () => Promise<{
    readonly problems: readonly string[];
    readonly notes: readonly string[];
  }>;
}
