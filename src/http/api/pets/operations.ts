import type { Operation } from '../../operation.ts';
import { createPet } from './create-pet.ts';
import { getPet } from './get-pet.ts';
import { listPets } from './list-pets.ts';

/** Interface section 4. */
export const petOperations: readonly Operation[] = [listPets, createPet, getPet];
