import { AppError } from '../../../errors.ts';
import { defineIdParameter } from '../resource.ts';

export const petId = defineIdParameter('petId', 'animal', { example: 42 });

export function petNotFound(): AppError {
  return new AppError('not_found', 'petId: there is no animal with this identifier');
}

export const editRefusals = {
  precondition_failed: 'If-Match: the animal has changed; get it again',
  pet_in_order:
    'an order owns this animal: only the order can change its status, and the animal cannot be deleted',
};
