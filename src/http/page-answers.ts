import build from 'fast-json-stringify';
import { AppError } from '../errors.ts';
import type { Catalogue } from '../pets/catalogue.ts';
import { type Pet, type PetStatus, petStatuses } from '../pets/pet.ts';
import { after, type Soon } from '../soon.ts';
import type { Cursors } from './cursor.ts';
import { toLines } from './head.ts';
import { createReadyAnswerMaker, type Lifetime, type ReadyAnswer } from './ready-answers.ts';
import type { CountedReadyAnswers } from './ready-metrics.ts';
import { defaultPageLimit, type ListQuery, PetListSchema } from './schemas.ts';

export interface PageAnswersOptions {
  readonly catalogue: Catalogue;
  readonly cursors: Cursors;
  readonly ready: CountedReadyAnswers;
  readonly baseUrl: string;
}

/** The answers of listPets (interface section 4.1, contract section 3), made of the store. */
export interface PageAnswers {
  /** The query of a plain target, its parameters in any order; null where it has to be read with more care. */
  readQuery(target: string): ListQuery | null;
  /**
   * Makes the answer to a target, which asks for that page, and keeps it ready. Fails with `invalid_parameter` where the
   * cursor is none, and as the catalogue does.
   */
  make(target: string, query: ListQuery): Soon<ReadyAnswer>;
}

const makeReadyAnswer = createReadyAnswerMaker('listPets');
const untilAdded: Lifetime = { until: 'added' };
const untilEdited: Lifetime = { until: 'edited' };

const plainTarget = /^\/v1\/pets(?:\?(.*))?$/;
const plainParameter = /^(\w+)=(.*)$/;
/** The values of each parameter that mean what they say, without an escape, and are none that is refused. */
const plainValues = new Map([
  ['limit', /^(?:[1-9]\d?|100)$/],
  ['status', new RegExp(`^(?:${petStatuses.join('|')})$`)],
  ['cursor', /^[\w-]+$/],
]);

/** Animals as JSON, their int64 exact. */
const writePets = build(PetListSchema) as (pets: readonly Pet[]) => string;

/** The parameters of a query; null where one is none of a list's, is given twice or has a value that is not plain. */
function readValues(query: string | undefined): Partial<Record<string, string>> | null {
  const values: Partial<Record<string, string>> = {};
  for (const parameter of query?.split('&') ?? []) {
    const [, name = '', value = ''] = plainParameter.exec(parameter) ?? [];
    if (values[name] !== undefined || plainValues.get(name)?.test(value) !== true) return null;
    values[name] = value;
  }
  return values;
}

export function createPageAnswers({ catalogue, cursors, ready, baseUrl }: PageAnswersOptions): PageAnswers {
  function readCursor({ cursor, status }: ListQuery): bigint | null {
    if (cursor === undefined) return null;
    const newestId = cursors.read(cursor, status ?? null);
    if (newestId === null)
      throw new AppError('invalid_parameter', 'cursor must be one that a page of the same status gave');
    return newestId;
  }

  /** None of its values has a character that a query would have to escape. */
  function nextLink({ limit = defaultPageLimit, status }: ListQuery, newestId: bigint): string {
    const ofStatus = status === undefined ? '' : `&status=${status}`;
    const cursor = cursors.write(status ?? null, newestId);
    return `<${baseUrl}/pets?limit=${limit}${ofStatus}&cursor=${cursor}>; rel="next"`;
  }

  return {
    readQuery(target) {
      const match = plainTarget.exec(target);
      const values = match && readValues(match[1]);
      if (values === null) return null;
      const { limit, status, cursor } = values;
      return {
        ...(limit !== undefined && { limit: Number(limit) }),
        ...(status !== undefined && { status: status as PetStatus }),
        ...(cursor !== undefined && { cursor }),
      };
    },

    make(target, query) {
      const { limit = defaultPageLimit, status = null } = query;
      const stamp = catalogue.stamps.read();
      const newestId = readCursor(query);
      return after(catalogue.list({ limit, status, newestId }), ({ pets, nextNewestId }) => {
        const ownLines = nextNewestId === null ? '' : toLines({ link: nextLink(query, nextNewestId) });
        const answer = makeReadyAnswer(writePets(pets), ownLines);
        // A cursor of a store that was put back to an earlier state may stand before animals that are yet to come.
        const isOpenAbove = stamp === null || newestId === null || newestId > stamp.newestId;
        ready.keep(target, answer, isOpenAbove ? untilAdded : untilEdited, stamp);
        return answer;
      });
    },
  };
}
