import { AppError, OperatorError, OutcomeUnknownError, UsageError } from '../../src/errors.ts';
import { insertPet } from '../../src/pets/pet-rows.ts';
import { defineWork, step } from '../../src/storage/database.ts';
import { insertSecret, insertWindow, selectSubjects, selectUsed, updateUsed } from './window-rows.ts';

/** The named transactions of the contract tests. They are in a separate file, because a worker thread imports it. */
interface Window {
  readonly subject: string;
  readonly used: bigint;
}

export const doNothing = defineWork(import.meta.url, 'doNothing', function* (_input: null) {});

export const addPet = defineWork(
  import.meta.url,
  'addPet',
  function* (pet: { name: string; categoryId: bigint; status: string }) {
    return yield* step(insertPet, pet);
  },
);

export const addSecret = defineWork(
  import.meta.url,
  'addSecret',
  function* (secret: { name: string; value: Uint8Array }) {
    yield* step(insertSecret, secret);
  },
);

export const addWindows = defineWork(import.meta.url, 'addWindows', function* (windows: readonly Window[]) {
  for (const window of windows) yield* step(insertWindow, window);
});

export const addAndReadWindow = defineWork(import.meta.url, 'addAndReadWindow', function* (window: Window) {
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
export const addAndThrow = defineWork(
  import.meta.url,
  'addAndThrow',
  function* ({ name, message, ...window }: Window & { name: keyof typeof errors; message: string }) {
    yield* step(insertWindow, window);
    throw errors[name](message);
  },
);

export const countUp = defineWork(import.meta.url, 'countUp', function* (subject: string) {
  const [row] = yield* step(selectUsed, { subject });
  yield* step(updateUsed, { subject, used: (row?.used ?? 0n) + 1n });
});

export const addIfAlone = defineWork(import.meta.url, 'addIfAlone', function* (window: Window) {
  const others = yield* step(selectSubjects, {});
  if (others.length === 0) yield* step(insertWindow, window);
});

export const readSubjects = defineWork(import.meta.url, 'readSubjects', function* (_input: null) {
  return yield* step(selectSubjects, {});
});
