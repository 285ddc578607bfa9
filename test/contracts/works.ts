import { AppError, OperatorError, OutcomeUnknownError, UsageError } from '../../src/errors.ts';
import { insertPet } from '../../src/pets/pet-rows.ts';
import { defineTransaction, step } from '../../src/storage/database.ts';
import { petValues } from '../support/catalogue.ts';
import { insertSecret, insertWindow, selectSubjects, selectUsed, updateUsed } from './window-rows.ts';

/** The named transactions of the contract tests. They are in a separate file, because a worker thread imports it. */
interface Window {
  readonly subject: string;
  readonly used: bigint;
}

export const doNothing = defineTransaction('doNothing', function* (_input: null) {});

export const addPet = defineTransaction(
  'addPet',
  function* (pet: { name: string; categoryId: bigint; status: string }) {
    return yield* step(insertPet, petValues(pet));
  },
);

export const addSecret = defineTransaction(
  'addSecret',
  function* (secret: { name: string; value: Uint8Array }) {
    yield* step(insertSecret, secret);
  },
);

export const addWindows = defineTransaction('addWindows', function* (windows: readonly Window[]) {
  for (const window of windows) yield* step(insertWindow, window);
});

export const addAndReadWindow = defineTransaction('addAndReadWindow', function* (window: Window) {
  yield* step(insertWindow, window);
  const [row] = yield* step(selectUsed, { subject: window.subject });
  return row?.used;
});

const errors = {
  AppError: (message: string) => new AppError('idempotency_key_reused', message),
  OperatorError: (message: string) => new OperatorError(message),
  OutcomeUnknownError: (message: string) => new OutcomeUnknownError(message),
  UsageError: (message: string) => new UsageError(message),
  Error: (message: string) => new Error(message),
};

/** Adds the window, then throws an error with the given name. */
export const addAndThrow = defineTransaction(
  'addAndThrow',
  function* ({ name, message, ...window }: Window & { name: keyof typeof errors; message: string }) {
    yield* step(insertWindow, window);
    throw errors[name](message);
  },
);

export const countUp = defineTransaction('countUp', function* (subject: string) {
  const [row] = yield* step(selectUsed, { subject });
  yield* step(updateUsed, { subject, used: (row?.used ?? 0n) + 1n });
});

export const addIfAlone = defineTransaction('addIfAlone', function* (window: Window) {
  const others = yield* step(selectSubjects, {});
  if (others.length === 0) yield* step(insertWindow, window);
});

export const readSubjects = defineTransaction('readSubjects', function* (_input: null) {
  return yield* step(selectSubjects, {});
});
