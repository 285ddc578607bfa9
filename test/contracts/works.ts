import { AppError, OperatorError, OutcomeUnknownError, UsageError } from '../../src/errors.ts';
import { insertPet, type PetValues } from '../../src/pets/pet-rows.ts';
import { step, type TransactionList, transaction } from '../../src/storage/database.ts';
import { petValues } from '../support/catalogue.ts';
import { insertSecret, insertWindow, selectSubjects, selectUsed, updateUsed } from './window-rows.ts';
import { renamePet } from './worked-example.ts';

interface Window {
  readonly subject: string;
  readonly used: bigint;
}

export const doNothing = transaction('doNothing', 'serializable', function* (_input: null) {});

export const addPet = transaction(
  'addPet',
  'serializable',
  function* (pet: { name: string; categoryId: bigint; status: string }) {
    return yield* step(insertPet, petValues(pet));
  },
);

export const addSecret = transaction(
  'addSecret',
  'serializable',
  function* (secret: { name: string; value: Uint8Array }) {
    yield* step(insertSecret, secret);
  },
);

export const addWindows = transaction('addWindows', 'serializable', function* (windows: readonly Window[]) {
  for (const window of windows) yield* step(insertWindow, window);
});

export const addAndReadWindow = transaction('addAndReadWindow', 'serializable', function* (window: Window) {
  yield* step(insertWindow, window);
  const [row] = yield* step(selectUsed, { subject: window.subject });
  return row?.used;
});

/** Adds an animal, then refuses. */
export const addAndRefuse = transaction('addAndRefuse', 'new rows', function* (pet: PetValues) {
  yield* step(insertPet, pet);
  throw new AppError('limit_reached', 'one too many');
});

const errors = {
  AppError: (message: string) => new AppError('idempotency_key_reused', message),
  OperatorError: (message: string) => new OperatorError(message),
  OutcomeUnknownError: (message: string) => new OutcomeUnknownError(message),
  UsageError: (message: string) => new UsageError(message),
  Error: (message: string) => new Error(message),
};

/** Adds the window, then throws an error with the given name. */
export const addAndThrow = transaction(
  'addAndThrow',
  'serializable',
  function* ({ name, message, ...window }: Window & { name: keyof typeof errors; message: string }) {
    yield* step(insertWindow, window);
    throw errors[name](message);
  },
);

export const countUp = transaction('countUp', 'serializable', function* (subject: string) {
  const [row] = yield* step(selectUsed, { subject });
  yield* step(updateUsed, { subject, used: (row?.used ?? 0n) + 1n });
});

export const addIfAlone = transaction('addIfAlone', 'serializable', function* (window: Window) {
  const others = yield* step(selectSubjects, {});
  if (others.length === 0) yield* step(insertWindow, window);
});

export const readSubjects = transaction('readSubjects', 'serializable', function* (_input: null) {
  return yield* step(selectSubjects, {});
});

/** The transactions of the contract tests. */
export const works = {
  doNothing,
  addPet,
  addSecret,
  addWindows,
  addAndReadWindow,
  addAndRefuse,
  addAndThrow,
  countUp,
  addIfAlone,
  readSubjects,
  renamePet,
} satisfies TransactionList;

type Works = typeof works;

declare module '../../src/storage/database.ts' {
  interface Transactions extends Works {}
}
