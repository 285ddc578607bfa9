import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { parseCanonicalInt64 } from '../int64.ts';
import type { Catalogue } from '../pets/catalogue.ts';
import { after, type Soon } from '../soon.ts';
import { deprecationHeaders, getPetDates } from './deprecation.ts';
import { writePet } from './new-pet.ts';
import { createReadyAnswerMaker, type Lifetime, type ReadyAnswer } from './ready-answers.ts';
import { petsPath } from './ready-key.ts';
import type { CountedReadyAnswers } from './ready-metrics.ts';

export interface PetAnswersOptions {
  readonly catalogue: Catalogue;
  readonly ready: CountedReadyAnswers;
  readonly clock: Clock;
  readonly baseUrl: string;
}

/** The answers of getPet (interface section 4.3), made of the store. */
export interface PetAnswers {
  /** The id in a plain target; null where it names no animal, or the operation has been removed (interface section 9). */
  readId(target: string): bigint | null;
  /**
   * Makes the answer to a target, which names the animal of that id, and keeps it ready. Fails with `not_found`, and as
   * the catalogue does.
   */
  make(target: string, id: bigint): Soon<ReadyAnswer>;
}

export function createPetAnswers({ catalogue, ready, clock, baseUrl }: PetAnswersOptions): PetAnswers {
  const headers = deprecationHeaders({ ...getPetDates, successor: `${baseUrl}/pets` });
  const makeReadyAnswer = createReadyAnswerMaker('getPet', headers);
  const lifetime: Lifetime = { until: 'edited', endsAtMs: getPetDates.removedAtMs };

  return {
    readId(target) {
      const isServed = target.startsWith(petsPath) && clock() < getPetDates.removedAtMs;
      return isServed ? parseCanonicalInt64(target.slice(petsPath.length)) : null;
    },

    make(target, id) {
      const stamp = catalogue.stamps.read();
      return after(catalogue.get(id), (pet) => {
        if (pet === null) throw petNotFound();
        const answer = makeReadyAnswer(writePet(pet));
        ready.keep(target, answer, lifetime, stamp);
        return answer;
      });
    },
  };
}

export function petNotFound(): AppError {
  return new AppError('not_found', 'petId: there is no animal with this identifier');
}
