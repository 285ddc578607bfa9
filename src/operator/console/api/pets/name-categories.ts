import type { Pet } from '../../../../pets/pet.ts';
import type { ConsoleServices } from '../../services.ts';

/** An animal with the name of its category. `category` is null if the category has no name. */
export interface NamedPet extends Pet {
  readonly category: string | null;
}

export async function nameCategories(
  { categories }: Pick<ConsoleServices, 'categories'>,
  pets: readonly Pet[],
): Promise<NamedPet[]> {
  const ids = new Set(pets.map(({ categoryId }) => categoryId));
  const found = await categories.find([...ids]);
  const names = new Map(found.map(({ id, name }) => [id, name]));
  return pets.map((pet) => ({ ...pet, category: names.get(pet.categoryId) ?? null }));
}
