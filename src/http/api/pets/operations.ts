import type { Operation } from '../../operation.ts';
import { createPet } from './create-pet.ts';
import { deletePet } from './delete-pet.ts';
import { getPet } from './get-pet.ts';
import { listPets } from './list-pets.ts';
import { updatePet } from './update-pet.ts';

/** The operations on animals (interface section 4, contract section 10). */
export const petOperations: readonly Operation[] = [listPets, createPet, getPet, updatePet, deletePet];
