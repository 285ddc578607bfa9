import { AppError } from '../errors.ts';
import type { Given } from '../idempotency/first-answer.ts';
import type { FirstAnswers } from '../idempotency/first-answers.ts';
import { isUniqueViolation } from '../storage/constraint.ts';
import type { Database } from '../storage/database.ts';
import { createContendedPets } from './contended-pets.ts';
import { type Placing, placeOrder } from './place-order.ts';
import { selectObstacle } from './place-order-rows.ts';

/** The result of `selectObstacle`. */
interface Obstacle {
  readonly is_available: bigint;
  readonly overdue_id: bigint | null;
}

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
  const contended = createContendedPets(readObstacle);

  async function place(placing: Placing): Promise<Given> {
    try {
      return await database.transact(placeOrder, placing);
    } catch (error) {
      // The row of the animal says `available`, but an order owns the animal. Only a manual change of the row can cause
      // this.
      if (isUniqueViolation(error)) throw petUnavailable(error);
      if (placing.closesOverdue || !isUnavailable(error)) throw error;
      const obstacle = await readObstacle(placing.petId);
      if (obstacle.overdue_id === null) throw error;
      return place({ ...placing, closesOverdue: true });
    }
  }

  async function readObstacle(petId: bigint): Promise<Obstacle> {
    const [obstacle] = await database.read(selectObstacle, { petId });
    if (obstacle === undefined) throw petNotFound();
    return obstacle;
  }

  /**
   * Throws `pet_unavailable` if the animal is not available and has no overdue hold. Does not throw if the idempotency
   * key of the order already has a first answer, because the transaction returns that answer.
   */
  async function refuseLate(
    { idempotency, nowMs }: Placing,
    { is_available, overdue_id }: Obstacle,
  ): Promise<void> {
    if (is_available === 1n || overdue_id !== null) return;
    if (idempotency !== null && (await firstAnswers.find(idempotency, nowMs)) !== null) return;
    throw petUnavailable(undefined);
  }

  // SQLite needs no limit for each animal: it runs orders one after the other, and a refusal costs no round trip.
  if (database.engine === 'sqlite') return place;
  return (placing) =>
    contended.run(
      placing.petId,
      () => place(placing),
      (obstacle) => refuseLate(placing, obstacle),
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
