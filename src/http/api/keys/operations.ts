import type { Operation } from '../../operation.ts';
import { createKey } from './create-key.ts';
import { deleteKey } from './delete-key.ts';
import { listKeys } from './list-keys.ts';
import { rotateKey } from './rotate-key.ts';

/** Contract section 15, keys. */
export const keyOperations: readonly Operation[] = [listKeys, createKey, rotateKey, deleteKey];
