import { stringifyExactJson } from '../exact-json.ts';
import { answerOnce, lockOf } from '../idempotency/answer-once.ts';
import { type FirstAnswer, type Given, type Idempotency, rememberedMs } from '../idempotency/first-answer.ts';
import type { FirstAnswers } from '../idempotency/first-answers.ts';
import { type Database, defineTransaction, type Steps } from '../storage/database.ts';
import { insertPetOnce } from './keyed-add-rows.ts';
import { completeNewPet, type NewPet } from './pet.ts';
import { addPet } from './pet-rows.ts';

/** A new animal and the idempotency key of its request. */
export interface KeyedAdd {
  readonly newPet: NewPet;
  readonly idempotency: Idempotency;
  /** The `Location` of the response without the id at its end. */
  readonly locationStart: string;
  readonly nowMs: number;
}

/**
 * Adds an animal and stores the response as the first answer of the idempotency key. If the key already has a first
 * answer, adds nothing and returns that answer.
 */
export const addPetOnce = defineTransaction(
  'addPetOnce',
  ({ newPet, idempotency, locationStart, nowMs }: KeyedAdd): Steps<Given> =>
    answerOnce(idempotency, nowMs, function* () {
      return toAnswer(newPet, yield* addPet(completeNewPet(newPet)), locationStart);
    }),
  'row locks',
);

/**
 * Does the same as `addPetOnce` with fewer round trips to PostgreSQL. A new key takes one statement. A used key takes a
 * second statement, which reads its first answer.
 */
export async function addPetInOneStatement(
  database: Database,
  firstAnswers: FirstAnswers,
  add: KeyedAdd,
): Promise<Given> {
  const { newPet, idempotency, locationStart, nowMs } = add;
  const complete = completeNewPet(newPet);
  const [bodyStart, bodyEnd] = splitBody(newPet);
  const [row] = await database.run(insertPetOnce, {
    ...complete,
    ...idempotency,
    lock: lockOf(idempotency),
    locationStart,
    bodyStart,
    bodyEnd,
    createdAtMs: BigInt(nowMs),
    expiredBeforeMs: BigInt(nowMs - rememberedMs),
  });
  const id = row?.id ?? null;
  if (id !== null) return { answer: toAnswer(newPet, id, locationStart), isReplayed: false };
  // If no first answer is found, the first request is still running, or its answer has just been deleted. The
  // transaction throws `idempotency_key_in_use` in the first case and adds the animal in the second.
  return (await firstAnswers.find(idempotency, nowMs)) ?? database.transact(addPetOnce, add);
}

function toAnswer(newPet: NewPet, id: bigint, locationStart: string): FirstAnswer {
  const [bodyStart, bodyEnd] = splitBody(newPet);
  return { status: 201, location: `${locationStart}${id}`, body: `${bodyStart}${id}${bodyEnd}` };
}

/** Returns the JSON of a new animal in two parts: the text before the id and the text after the id. */
function splitBody(newPet: NewPet): readonly [start: string, end: string] {
  return ['{"id":', `,${stringifyExactJson(completeNewPet(newPet)).slice(1)}`];
}
