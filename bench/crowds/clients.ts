import { fork } from 'node:child_process';
import { join } from 'node:path';
import { atExit } from '../cleanup.ts';
import type { AskersOrder } from './askers.ts';
import type { ConnectsOrder, ConnectsSeen } from './connects.ts';
import type { FollowersOrder, FollowersSeen } from './followers.ts';
import type { Asked, GoodClientOrder } from './good-client.ts';
import type { SlowBodiesOrder, SlowBodiesSeen } from './slow-bodies.ts';
import type { CrowdSeen } from './tally.ts';

export type Order = AskersOrder | ConnectsOrder | FollowersOrder | GoodClientOrder | SlowBodiesOrder;

/** What the clients of an order see, by its kind. */
interface SeenBy {
  readonly askers: CrowdSeen;
  readonly connects: ConnectsSeen;
  readonly followers: FollowersSeen;
  readonly 'good-client': readonly Asked[];
  readonly 'slow-bodies': SlowBodiesSeen;
}

export interface RunningClients<Seen> {
  /** Resolves when the clients have ended by themselves. */
  readonly seen: Promise<Seen>;
  /** Ends the clients. */
  stop(): Promise<Seen>;
}

const file = join(import.meta.dirname, 'client.ts');

/** Starts clients in a process of their own, so that they wait for no others. Resolves when they are ready. */
export async function startClients<O extends Order>(order: O): Promise<RunningClients<SeenBy[O['kind']]>> {
  // The flags of a test runner are not for it.
  const child = fork(file, { execArgv: [] });
  const forget = atExit(() => child.kill('SIGKILL'));
  const ready = Promise.withResolvers<void>();
  const seen = Promise.withResolvers<SeenBy[O['kind']]>();
  // The clients may fail before their result is awaited.
  seen.promise.catch(() => {});
  child.on('message', (message) => {
    if (message === 'ready') ready.resolve();
    else seen.resolve(message as SeenBy[O['kind']]);
  });
  child.once('exit', forget);
  // Unlike `exit`, `disconnect` comes after the last message.
  child.once('disconnect', () => {
    const failure = new Error(`the clients of the kind ${order.kind} ended without a result`);
    ready.reject(failure);
    seen.reject(failure);
  });
  child.send(order);
  await ready.promise;
  return {
    seen: seen.promise,
    stop() {
      if (child.connected) child.send('stop');
      return seen.promise;
    },
  };
}
