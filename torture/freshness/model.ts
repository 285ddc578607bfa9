import type { Random } from '../random.ts';

/** An animal as the interface returns it. Its ids are small enough for JavaScript numbers. */
export interface ShownPet {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  readonly status: string;
}

/** A request and its expected answer. */
export interface Question {
  readonly path: string;
  /** Null stands for 404. */
  readonly expected: readonly ShownPet[] | ShownPet | null;
}

export const statuses = ['available', 'pending', 'sold'] as const;
export const categories = 3;
export const pageSize = 5;

/** Models the animals of a store with one writer. */
export function createModel() {
  const pets = new Map<number, ShownPet>();
  /** Addresses of pages with a cursor, and the greatest id that each may contain. */
  const pages: { readonly path: string; readonly newestId: number }[] = [];

  function page(isListed: (pet: ShownPet) => boolean): ShownPet[] {
    return [...pets.values()]
      .filter(isListed)
      .sort((one, other) => other.id - one.id)
      .slice(0, pageSize);
  }

  function askForPage(random: Random): Question {
    const categoryId = random.between(1, categories);
    const status = random.pick(statuses);
    const questions: Question[] = [
      { path: `/pets?limit=${pageSize}`, expected: page(() => true) },
      { path: `/pets?limit=${pageSize}&status=${status}`, expected: page((pet) => pet.status === status) },
      {
        path: `/pets?limit=${pageSize}&categoryId=${categoryId}`,
        expected: page((pet) => pet.categoryId === categoryId),
      },
      ...pages.map(({ path, newestId }) => ({ path, expected: page(({ id }) => id <= newestId) })),
    ];
    return random.pick(questions);
  }

  return {
    count: () => pets.size,
    put: (pet: ShownPet) => pets.set(pet.id, pet),
    remove: (id: number) => pets.delete(id),
    /** Picks an existing animal. */
    choose: (random: Random) => random.pick([...pets.values()]),
    /** Records the current address of the next page. */
    notePage(path: string): void {
      const ids = [...pets.keys()].sort((one, other) => other - one);
      pages.push({ path, newestId: ids[pageSize] ?? 0 });
    },
    askForPet: (id: number): Question => ({ path: `/pets/${id}`, expected: pets.get(id) ?? null }),
    askForPage,
  };
}

export type Model = ReturnType<typeof createModel>;
