import type { Accounts } from '../../accounts/accounts.ts';
import type { AdministerAs, Administration } from '../../accounts/administration.ts';
import type { Keyring } from '../../accounts/keyring.ts';
import type { Audit } from '../../audit/audit-log.ts';
import type { Environment } from '../../config.ts';
import type { Services } from '../../http/api/services.ts';
import type { SignedIn } from '../../http/route.ts';
import type { Bans } from '../../limits/bans.ts';
import type { LookAtUsage } from '../../limits/counters.ts';
import type { Database } from '../../storage/database.ts';
import type { OperatorWebhooks } from '../../webhooks/operator-webhooks.ts';
import type { Changes } from '../changes.ts';
import type { Sessions } from '../sessions.ts';
import type { Site } from './site.ts';
import type { Vitals } from './vitals.ts';

/** All changes that an operator can make. Each change is recorded in the audit log, with its actor. */
export interface Hands extends Changes, Administration {
  readonly allWebhooks: OperatorWebhooks;
}

/** The dependencies of the console's operations. The commands call the same functions. */
export interface ConsoleServices
  extends Pick<Services, 'catalogue' | 'countInventory' | 'orders' | 'categories' | 'eventIds' | 'clock'> {
  readonly database: Database;
  readonly accounts: Accounts;
  readonly keyring: Keyring;
  readonly bans: Bans;
  readonly administerAs: AdministerAs;
  readonly audit: Audit;
  readonly allWebhooks: OperatorWebhooks;
  /** Reads the current usage of an account from the rate limit counters, which instances may share. */
  readonly look: LookAtUsage;
  /** Returns the functions that make changes in the name of a session. */
  readonly actAs: (signedIn: SignedIn) => Hands;
  readonly sessions: Sessions;
  readonly vitals: Vitals;
  readonly environment: Environment;
  readonly findSite: (host: string | undefined) => Site | null;
  /** Returns the problems that make this instance not ready, and warnings for the operator. */
  readonly readHealth: () => Promise<{
    readonly problems: readonly string[];
    readonly notes: readonly string[];
  }>;
}
