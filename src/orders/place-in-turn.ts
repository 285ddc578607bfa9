import { AppError } from '../errors.ts';
import type { Given } from '../idempotency/first-answer.ts';
import type { FirstAnswers } from '../idempotency/first-answers.ts';
import { isUniqueViolation } from '../storage/constraint.ts';
import type { Database } from '../storage/database.ts';
import { createContendedPets } from './contended-pets.ts';
import { type Placing, placeOrder } from './place-order.ts';
import { selectObstacle } from './place-order-rows.ts';

/** Whether an animal is available, and its expired hold that is not closed yet, if it has one. */
interface Obstacle {
  readonly is_available: bigint;
  readonly overdue_id: bigint | null;
}

/**
 * Creates a function that places orders. It first closes an expired hold on the animal. Throws `not_found`,
 * `pet_unavailable`, `limit_reached`, `idempotency_key_reused` and `idempotency_key_in_use`.
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
      // An operator has set the animal to available by hand while an order owns it.
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

  /** Refuses an order for an unavailable animal, unless its idempotency key already has an answer. */
  async function refuseLate(
    { idempotency, nowMs }: Placing,
    { is_available, overdue_id }: Obstacle,
  ): Promise<void> {
    if (is_available === 1n || overdue_id !== null) return;
    if (idempotency !== null && (await firstAnswers.find(idempotency, nowMs)) !== null) return;
    throw petUnavailable(undefined);
  }

  // SQLite runs orders one after the other anyway, and a refusal costs no round trip, so SQLite needs no queue for each
  // animal.
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
