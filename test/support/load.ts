import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { add, elementAt, type Instances } from './instances.ts';

export const addedBefore = 100;
export const addedAfter = 300;
const clients = 24;
/** Milliseconds before a client retries a request. */
const pauseMs = 20;

export interface Outcome {
  /** The ids of the animals that were answered with 201, by name. */
  readonly answered: Map<string, number>;
  /** Errors of connections to an instance, and the status of every refusal. */
  readonly failures: Set<string>;
  /** Names whose retry got a replayed answer. The first attempt succeeded, but its answer was lost. */
  readonly takenUnanswered: Set<string>;
}

/**
 * Runs clients that add one animal after the other at all instances in turn. If an add gets no answer or one of
 * `refusals`, the client retries at the next instance with the same Idempotency-Key. Throws for any other answer but
 * 201. Calls `onLoad` once, after the first 100 adds have started.
 */
export async function addUnderLoad(
  { services }: Instances,
  key: string,
  onLoad: () => unknown,
  refusals: readonly number[] = [409],
): Promise<Outcome> {
  const answered = new Map<string, number>();
  const failures = new Set<string>();
  const takenUnanswered = new Set<string>();
  let started = 0;
  let isOver = false;

  /** Returns the id of the animal, or null if the request must be retried. */
  async function trySend(name: string, place: number): Promise<number | null> {
    const service = elementAt(services, place % services.length);
    try {
      const response = await add(service, key, name, name);
      const { id } = (await response.json()) as { id: number };
      if (response.headers.has('idempotent-replayed')) takenUnanswered.add(name);
      if (response.status === 201) return id;
      assert.ok(refusals.includes(response.status), `${response.status}`);
      failures.add(String(response.status));
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      const { cause } = error as { cause?: NodeJS.ErrnoException };
      failures.add(cause?.code ?? String(error));
    }
    return null;
  }

  async function send(name: string, place: number): Promise<number> {
    for (let next = place; !isOver; next += 1) {
      const id = await trySend(name, next);
      if (id !== null) return id;
      await setTimeout(pauseMs);
    }
    throw new Error(`another client failed before ${name} was added`);
  }

  async function work(): Promise<void> {
    while (started < addedBefore + addedAfter) {
      const place = started++;
      if (place === addedBefore) await onLoad();
      const name = `animal-${place}`;
      answered.set(name, await send(name, place));
    }
  }

  try {
    await Promise.all(Array.from({ length: clients }, work));
  } finally {
    isOver = true;
  }
  return { answered, failures, takenUnanswered };
}
