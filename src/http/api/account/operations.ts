import type { Operation } from '../../operation.ts';
import { getAccount } from './get-account.ts';

/** The operations on the account of the calling key (contract section 15). */
export const accountOperations: readonly Operation[] = [getAccount];
