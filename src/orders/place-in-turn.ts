import { AppError } from '../errors.ts';
import type { Given } from '../idempotency/first-answer.ts';
import type { FirstAnswers } from '../idempotency/first-answers.ts';
import { isUniqueViolation } from '../storage/constraint.ts';
import type { Database } from '../storage/database.ts';
import { createContendedPets } from './contended-pets.ts';
import { type Placing, placeOrder } from './place-order.ts';
import { selectIsFree } from './place-order-rows.ts';

/**
 * Returns a function that places orders. If the animal has an overdue hold, the function closes the hold first.
 *
 * The function throws `not_found`, `pet_unavailable`, `limit_reached`, `idempotency_key_reused` and
 * `idempotency_key_in_use`.
 */
export function createPlacing(
  database: Database,
  firstAnswers: FirstAnswers,
): (placing: Placing) => Promise<Given> {
  const contended = createContendedPets(readIsFree);

  async function place(placing: Placing): Promise<Given> {
    try {
      return await database.transact(placeOrder, placing);
    } catch (error) {
      // The row of the animal says `available`, but an order owns the animal. Only a manual change of the row can cause
      // this.
      if (isUniqueViolation(error)) throw petUnavailable(error);
      if (placing.closesOverdue || !isUnavailable(error)) throw error;
      const isFree = await readIsFree(placing.petId);
      if (isFree === null) throw petNotFound();
      // The animal may have become available since, because another transaction has closed its overdue hold.
      if (!isFree) throw error;
      return place({ ...placing, closesOverdue: true });
    }
  }

  /** Returns null if the animal does not exist. */
  async function readIsFree(petId: bigint): Promise<boolean | null> {
    const [pet] = await database.read(selectIsFree, { petId });
    return pet === undefined ? null : pet.is_free === 1n;
  }

  /**
   * Throws `not_found` or `pet_unavailable` if the animal is not free. Does not throw if the idempotency key of the order
   * already has a first answer, because the transaction returns that answer.
   */
  async function refuseLate({ idempotency, nowMs }: Placing, isFree: boolean | null): Promise<void> {
    if (isFree) return;
    if (idempotency !== null && (await firstAnswers.find(idempotency, nowMs)) !== null) return;
    throw isFree === null ? petNotFound() : petUnavailable(undefined);
  }

  // SQLite needs no limit for each animal: it runs orders one after the other, and a refusal costs no round trip.
  if (database.engine === 'sqlite') return place;
  return (placing) =>
    contended.run(
      placing.petId,
      () => place(placing),
      (isFree) => refuseLate(placing, isFree),
    );
}

function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'pet_unavailable';
}

function petUnavailable(cause: unknown): AppError {
  return new AppError('pet_unavailable', 'petId: this animal is not available', { cause });
}

function petNotFound(): AppError {
  return new AppError('not_found', 'petId: there is no animal with this identifier');
}
