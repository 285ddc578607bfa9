import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findPostgres } from '../support/engines.ts';
import { add, amplePlan, elementAt, type Instances, startInstances } from '../support/instances.ts';
import { startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';

const postgres = await findPostgres();
const skip = postgres.skip || (await whyNoRedisServer());

const clients = 24;
const addedBefore = 100;
const addedAfter = 300;

interface Outcome {
  /** What was answered with 201, by the name of the animal. */
  readonly answered: Map<string, number>;
  /** What went wrong on the way to an instance. */
  readonly failures: Set<string>;
}

/**
 * Clients that add one animal after the other, each through all instances in turn, and send again elsewhere, with the
 * same Idempotency-Key, what was not answered. `onLoad` is called once, in the middle of it.
 */
async function addUnderLoad({ services }: Instances, key: string, onLoad: () => void): Promise<Outcome> {
  const answered = new Map<string, number>();
  const failures = new Set<string>();
  let started = 0;

  async function send(name: string, place: number): Promise<number> {
    const service = elementAt(services, place % services.length);
    try {
      const response = await add(service, key, name, name);
      const { id } = (await response.json()) as { id: number };
      assert.equal(response.status, 201);
      return id;
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      const { cause } = error as { cause?: NodeJS.ErrnoException };
      failures.add(cause?.code ?? String(error));
      return send(name, place + 1);
    }
  }

  async function work(): Promise<void> {
    while (started < addedBefore + addedAfter) {
      const place = started++;
      if (place === addedBefore) onLoad();
      const name = `animal-${place}`;
      answered.set(name, await send(name, place));
    }
  }

  await Promise.all(Array.from({ length: clients }, work));
  return { answered, failures };
}

async function startLoad(t: Parameters<typeof startInstances>[0], signal: NodeJS.Signals) {
  const { url: redisUrl } = await startRedisServer(t);
  const instances = await startInstances(t, { postgres, redisUrl });
  const { key } = await instances.createKey(...amplePlan);
  const victim = elementAt(instances.services, 0);
  const outcome = await addUnderLoad(instances, key, () => victim.child.kill(signal));
  const rows = await instances.store.execute('select id, name from pets');
  const stored = new Map((rows as { id: string; name: string }[]).map(({ id, name }) => [name, Number(id)]));
  return { ...outcome, rows, stored, ended: await victim.end() };
}

describe('an instance that ends under load', { skip }, () => {
  test('by SIGKILL loses nothing that was answered, and what is sent again elsewhere is added once', async (t) => {
    const { answered, stored, rows, ended } = await startLoad(t, 'SIGKILL');
    assert.equal(ended.signal, 'SIGKILL');
    assert.equal(answered.size, addedBefore + addedAfter);
    assert.deepEqual(stored, answered);
    assert.equal(rows.length, answered.size);
  });

  test('by SIGTERM cuts no request: what it does not answer it has not taken', async (t) => {
    const { answered, stored, failures, ended } = await startLoad(t, 'SIGTERM');
    assert.equal(ended.code, 0);
    assert.deepEqual(
      [...failures].filter((code) => code !== 'ECONNREFUSED'),
      [],
    );
    assert.deepEqual(stored, answered);
  });
});
