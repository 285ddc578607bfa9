import { stringifyExactJson } from '../exact-json.ts';
import { answerOnce, lockOf } from '../idempotency/answer-once.ts';
import { type FirstAnswer, type Given, type Idempotency, rememberedMs } from '../idempotency/first-answer.ts';
import type { FirstAnswers } from '../idempotency/first-answers.ts';
import { type Database, defineWork, type Work } from '../storage/database.ts';
import { insertPetOnce } from './keyed-add-rows.ts';
import { completeNewPet, type NewPet } from './pet.ts';
import { addPet } from './pet-rows.ts';

/** An addition with an idempotency key. */
export interface KeyedAdd {
  readonly newPet: NewPet;
  readonly idempotency: Idempotency;
  /** The start of the answer's `Location`, before the id. */
  readonly locationStart: string;
  readonly nowMs: number;
}

/** Adds an animal for a key, or returns the first answer of the key. */
export const addPetOnce = defineWork(
  import.meta.url,
  'addPetOnce',
  ({ newPet, idempotency, locationStart, nowMs }: KeyedAdd): Work<Given> =>
    answerOnce(idempotency, nowMs, function* () {
      return toAnswer(newPet, yield* addPet(completeNewPet(newPet)), locationStart);
    }),
  'row locks',
);

/**
 * For PostgreSQL, where each step of a transaction is a round trip. One statement adds under a new key, and a second
 * one finds the first answer of a used key.
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
  // Run the transaction: it throws the reason why the key is in use, or adds the animal if the answer has been
  // deleted.
  return (await firstAnswers.find(idempotency, nowMs)) ?? database.transact(addPetOnce, add);
}

function toAnswer(newPet: NewPet, id: bigint, locationStart: string): FirstAnswer {
  const [bodyStart, bodyEnd] = splitBody(newPet);
  return { status: 201, location: `${locationStart}${id}`, body: `${bodyStart}${id}${bodyEnd}` };
}

/** The JSON of a new animal before and after its id. */
function splitBody(newPet: NewPet): readonly [start: string, end: string] {
  return ['{"id":', `,${stringifyExactJson(completeNewPet(newPet)).slice(1)}`];
}
