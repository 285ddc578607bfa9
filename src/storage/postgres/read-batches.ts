import { storeOverloaded } from '../store-unavailable.ts';
import { type Rows, sendBatch } from './batch.ts';
import { readConnectionsMax } from './connections.ts';
import { isUndone } from './faults.ts';
import { waitingTasksMax } from './lent-connections.ts';
import type { Lend } from './pool.ts';
import type { Call } from './prepared.ts';

/** Maximum number of reads in one round trip. The server runs the reads of one connection one after the other. */
const batchReadsMax = 32;

interface Read {
  readonly call: Call;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (error: unknown) => void;
}

/** Sends the reads of one turn of the event loop in one round trip. */
export interface ReadBatches {
  /** Returns the rows of a statement. Throws `unavailable` if too many reads wait. */
  read(call: Call): Promise<Rows>;
  /** Sends the gathered reads. Resolves when all reads are settled. */
  drain(): Promise<void>;
}

/**
 * Sends a batch at the end of the poll phase, or as soon as it has `batchReadsMax` reads. A single read is also sent
 * as a batch.
 */
export function createReadBatches(lend: Lend): ReadBatches {
  const underWay = new Set<Promise<void>>();
  let gathered: Read[] = [];
  let unsettled = 0;

  function sendGathered(): void {
    const batch = gathered;
    gathered = [];
    if (batch.length === 0) return;
    const sent = send(batch).finally(() => {
      underWay.delete(sent);
      unsettled -= batch.length;
    });
    underWay.add(sent);
  }

  /**
   * Sends a batch. If one read fails, the server rolls back all reads of the batch. Then each read is sent again
   * separately.
   */
  async function send(batch: readonly Read[]): Promise<void> {
    try {
      const results = await lend((client) =>
        sendBatch(
          client,
          batch.map(({ call }) => call),
        ),
      );
      for (const [place, { resolve }] of batch.entries()) resolve(results[place] ?? []);
    } catch (error) {
      if (batch.length > 1 && isUndone(error)) await Promise.all(batch.map((read) => send([read])));
      else for (const { reject } of batch) reject(error);
    }
  }

  return {
    read(call) {
      if (unsettled >= readConnectionsMax + waitingTasksMax) return Promise.reject(storeOverloaded());
      unsettled += 1;
      return new Promise((resolve, reject) => {
        const count = gathered.push({ call, resolve, reject });
        if (count === batchReadsMax) sendGathered();
        else if (count === 1) setImmediate(sendGathered);
      });
    },

    async drain() {
      sendGathered();
      await Promise.all(underWay);
    },
  };
}
