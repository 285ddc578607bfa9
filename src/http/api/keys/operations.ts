import type { Operation } from '../../operation.ts';
import { createKey } from './create-key.ts';
import { deleteKey } from './delete-key.ts';
import { listKeys } from './list-keys.ts';
import { rotateKey } from './rotate-key.ts';

/** The operations on the keys of an account (contract section 15). */
export const keyOperations: readonly Operation[] = [listKeys, createKey, rotateKey, deleteKey];
