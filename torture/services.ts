import { setTimeout as pause } from 'node:timers/promises';
import { amplePlan } from '../test/support/instances.ts';
import type { ServiceProcess } from '../test/support/processes.ts';
import type { Random } from './random.ts';
import type { TortureContext } from './scenario.ts';
import type { Store } from './store.ts';

interface Answer {
  readonly status: number;
  readonly body: string;
  /** The address of the next page, relative to the base address. Null if there is no next page. */
  readonly next: string | null;
}

/** Services over one store. Any of them may be killed at any time. */
export interface Services {
  readonly store: Store;
  readonly all: readonly ServiceProcess[];
  /** A key with all scopes and limits that no load reaches. */
  readonly key: string;
  /** The number of requests, and the time of each answer, in order. */
  readonly traffic: { readonly sent: number; readonly answeredAtMs: readonly number[] };
  /** Sends a request to the next service in turn. Null if it gave no answer. */
  ask(path: string, init?: RequestInit): Promise<Answer | null>;
  /** Repeats a request at the next service until the answer is neither 503 nor 409 of a request that still runs. */
  insist(path: string, init?: RequestInit): Promise<Answer & { readonly repeats: number }>;
  /** Kills a random service with SIGKILL. */
  kill(): Promise<void>;
  /** Replaces the killed service by a new one. */
  replace(): Promise<void>;
  end(): Promise<void>;
}

const repeatMs = 20;

export async function startServices(
  context: Pick<TortureContext, 'after'>,
  random: Random,
  store: Store,
  count: number,
): Promise<Services> {
  const all: ServiceProcess[] = [];
  while (all.length < count) all.push(await store.start());
  const { key } = await store.createKey(...amplePlan, '--scopes', 'all');
  const traffic = { sent: 0, answeredAtMs: [] as number[] };
  let killed = 0;
  let isOver = false;
  context.after(() => {
    isOver = true;
  });

  async function ask(path: string, init: RequestInit = {}): Promise<Answer | null> {
    const service = all[traffic.sent++ % count];
    try {
      const headers = {
        ...init.headers,
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
      };
      const response = await fetch(`${service?.url}${path}`, { ...init, headers });
      const [, next = null] = /^<\/v1([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
      const body = await response.text();
      traffic.answeredAtMs.push(performance.now());
      return { status: response.status, body, next };
    } catch {
      return null;
    }
  }

  return {
    store,
    all,
    key,
    traffic,
    ask,
    async insist(path, init) {
      for (let repeats = 0; !isOver; repeats += 1) {
        const answer = await ask(path, init);
        const isFinal = answer !== null && answer.status !== 503;
        if (isFinal && !answer.body.includes('idempotency_key_in_use')) return { ...answer, repeats };
        await pause(repeatMs);
      }
      throw new Error(`the scenario ended before ${path} was answered`);
    },
    async kill() {
      killed = random.between(0, count - 1);
      await all[killed]?.end('SIGKILL');
    },
    async replace() {
      all[killed] = await store.start();
    },
    async end() {
      await Promise.all(all.map((service) => service.end('SIGKILL')));
    },
  };
}
