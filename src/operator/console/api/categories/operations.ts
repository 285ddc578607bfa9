import { deleteCategory } from './delete-category.ts';
import { listCategories } from './list-categories.ts';
import { putCategory } from './put-category.ts';

export const categoryOperations = [listCategories, putCategory, deleteCategory];
