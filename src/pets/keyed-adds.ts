import { stringifyExactJson } from '../exact-json.ts';
import { answerOnce, lockOf } from '../idempotency/answer-once.ts';
import { type FirstAnswer, type Given, type Idempotency, rememberedMs } from '../idempotency/first-answer.ts';
import type { FirstAnswers } from '../idempotency/first-answers.ts';
import { type Database, defineWork, type Work } from '../storage/database.ts';
import { insertPetOnce } from './keyed-add-rows.ts';
import { completeNewPet, type NewPet } from './pet.ts';
import { addPet } from './pet-rows.ts';

/** An add under an idempotency key. */
export interface KeyedAdd {
  readonly newPet: NewPet;
  readonly idempotency: Idempotency;
  /** What the answer's `Location` begins with, before the id. */
  readonly locationStart: string;
  readonly nowMs: number;
}

/** Adds an animal under a key, or gives the key's first answer. */
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
 * On PostgreSQL, where each step of a transaction is a round trip: one statement adds under a new key, and a second finds
 * what an old one was answered with.
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
    outlivedMs: BigInt(nowMs - rememberedMs),
  });
  const id = row?.id ?? null;
  if (id !== null) return { answer: toAnswer(newPet, id, locationStart), isReplayed: false };
  // The work tells what has the key, and acts if it was forgotten meanwhile.
  return (await firstAnswers.find(idempotency, nowMs)) ?? database.transact(addPetOnce, add);
}

function toAnswer(newPet: NewPet, id: bigint, locationStart: string): FirstAnswer {
  const [bodyStart, bodyEnd] = splitBody(newPet);
  return { status: 201, location: `${locationStart}${id}`, body: `${bodyStart}${id}${bodyEnd}` };
}

/** The text of a new animal before its id and after it. */
function splitBody(newPet: NewPet): readonly [start: string, end: string] {
  return ['{"id":', `,${stringifyExactJson(completeNewPet(newPet)).slice(1)}`];
}
