import { AppError } from '../../../errors.ts';
import { defineIdParameter } from '../resource.ts';

export const petId = defineIdParameter('petId', 'animal', { example: 42 });

export function petNotFound(): AppError {
  return new AppError('not_found', 'petId: there is no animal with this identifier');
}
