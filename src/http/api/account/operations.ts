import type { Operation } from '../../operation.ts';
import { getAccount } from './get-account.ts';

/** Contract section 15, the account. */
export const accountOperations: readonly Operation[] = [getAccount];
