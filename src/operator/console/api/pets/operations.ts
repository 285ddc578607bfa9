import { changePet } from './change-pet.ts';
import { deletePet } from './delete-pet.ts';
import { listPets } from './list-pets.ts';
import { showPet } from './show-pet.ts';

export const petOperations = [listPets, showPet, changePet, deletePet];
