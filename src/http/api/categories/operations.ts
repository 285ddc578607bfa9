import type { Operation } from '../../operation.ts';
import { deleteCategory } from './delete-category.ts';
import { listCategories } from './list-categories.ts';
import { putCategory } from './put-category.ts';

/** The operations on the names of categories (contract section 11). */
export const categoryOperations: readonly Operation[] = [listCategories, putCategory, deleteCategory];
