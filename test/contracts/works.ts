import { AppError, OperatorError, OutcomeUnknownError, UsageError } from '../../src/errors.ts';
import { insertPet, type PetValues } from '../../src/pets/pet-rows.ts';
import { step, transaction } from '../../src/storage/transaction.ts';
import { petValues } from '../support/catalogue.ts';
import { insertSecret, insertWindow, selectSubjects, selectUsed, updateUsed } from './window-rows.ts';

/** The named transactions of the contract tests. They are in a separate file, because a worker thread imports it. */
interface Window {
  readonly subject: string;
  readonly used: bigint;
}

export const doNothing = transaction(function* doNothing(_input: null) {});

export const addPet = transaction(function* addPet(pet: {
  name: string;
  categoryId: bigint;
  status: string;
}) {
  return yield* step(insertPet, petValues(pet));
});

export const addSecret = transaction(function* addSecret(secret: { name: string; value: Uint8Array }) {
  yield* step(insertSecret, secret);
});

export const addWindows = transaction(function* addWindows(windows: readonly Window[]) {
  for (const window of windows) yield* step(insertWindow, window);
});

export const addAndReadWindow = transaction(function* addAndReadWindow(window: Window) {
  yield* step(insertWindow, window);
  const [row] = yield* step(selectUsed, { subject: window.subject });
  return row?.used;
});

/** Adds an animal, then refuses. */
export const addAndRefuse = transaction(function* addAndRefuse(pet: PetValues) {
  yield* step(insertPet, pet);
  throw new AppError('limit_reached', 'one too many');
}, 'new rows');

const errors = {
  AppError: (message: string) => new AppError('idempotency_key_reused', message),
  OperatorError: (message: string) => new OperatorError(message),
  OutcomeUnknownError: (message: string) => new OutcomeUnknownError(message),
  UsageError: (message: string) => new UsageError(message),
  Error: (message: string) => new Error(message),
};

/** Adds the window, then throws an error with the given name. */
export const addAndThrow = transaction(function* addAndThrow({
  name,
  message,
  ...window
}: Window & { name: keyof typeof errors; message: string }) {
  yield* step(insertWindow, window);
  throw errors[name](message);
});

export const countUp = transaction(function* countUp(subject: string) {
  const [row] = yield* step(selectUsed, { subject });
  yield* step(updateUsed, { subject, used: (row?.used ?? 0n) + 1n });
});

export const addIfAlone = transaction(function* addIfAlone(window: Window) {
  const others = yield* step(selectSubjects, {});
  if (others.length === 0) yield* step(insertWindow, window);
});

export const readSubjects = transaction(function* readSubjects(_input: null) {
  return yield* step(selectSubjects, {});
});
