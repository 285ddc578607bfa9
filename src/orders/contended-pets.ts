/** Coordinates orders for the same animal in this process. `Seen` is the data that is read of an animal. */
export interface ContendedPets<Seen> {
  /**
   * Runs an order for an animal. If another order for the animal is running here, it waits for that one first. Then
   * `onSeen` throws if the order may not continue.
   */
  run<T>(petId: bigint, order: () => Promise<T>, onSeen: (seen: Seen) => Promise<void>): Promise<T>;
}

/** A running order, and the data that all orders that wait for it read once afterwards. */
interface RunningOrder<Seen> {
  readonly running: Promise<unknown>;
  seen: Promise<Seen> | null;
}

/**
 * Limits simultaneous orders for one animal: one runs in a transaction, and one statement shows all others that they
 * are too late. Otherwise a rush on a few animals would take the connections from all other requests.
 */
export function createContendedPets<Seen>(readPet: (petId: bigint) => Promise<Seen>): ContendedPets<Seen> {
  const runningOrders = new Map<bigint, RunningOrder<Seen>>();

  async function runFirst<T>(petId: bigint, order: () => Promise<T>): Promise<T> {
    const running = order();
    runningOrders.set(petId, { running, seen: null });
    try {
      return await running;
    } finally {
      runningOrders.delete(petId);
    }
  }

  return {
    async run(petId, order, onSeen) {
      const other = runningOrders.get(petId);
      if (other === undefined) return runFirst(petId, order);
      await other.running.catch(() => undefined);
      other.seen ??= readPet(petId);
      await onSeen(await other.seen);
      return order();
    },
  };
}
