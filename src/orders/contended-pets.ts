/** Limits simultaneous orders for the same animal in this process. `Seen` is the state of an animal. */
export interface ContendedPets<Seen> {
  /**
   * Runs `order`. If the first order for the animal is running in this process, first waits for that order, then calls
   * `onSeen` with the state of the animal. To refuse the order, `onSeen` throws.
   */
  run<T>(petId: bigint, order: () => Promise<T>, onSeen: (seen: Seen) => Promise<void>): Promise<T>;
}

/**
 * The first order for an animal. All orders that wait for the first order share one read of the animal, `seen`. Before
 * this read, `seen` is null.
 */
interface RunningOrder<Seen> {
  readonly running: Promise<unknown>;
  seen: Promise<Seen> | null;
}

/**
 * The first order for an animal runs alone. Simultaneous orders wait for the first order and then share one read of the
 * animal, which usually shows that the animal is taken. Without this wait, a rush on one animal would occupy all
 * database connections.
 *
 * If the animal is still available after the first order, all orders that waited run at once. No later order waits for
 * these orders.
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
