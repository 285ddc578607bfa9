import { existsSync } from 'node:fs';
import { placeOrder } from '../src/orders/place-order.ts';
import { openConnection } from '../src/storage/sqlite/connection.ts';
import { runSteps } from '../src/storage/sqlite/statements.ts';
import type { Site } from './entrant.ts';
import { copyStore, type SeededStore } from './store.ts';
import { listOrdered, toPlacing } from './writes.ts';

const name = 'orders';

/** Returns a copy of a store in which the key's account has ordered the animals of `listOrdered`. It is made once. */
export function addOrders({ folder, store }: Site): SeededStore {
  const made = { ...store, file: `${folder}/${name}.db` };
  if (existsSync(made.file)) return made;
  const { raw, run, close } = openConnection(copyStore(store, folder, name), 0);
  raw.exec('begin immediate');
  for (const id of listOrdered(store.animals))
    runSteps(run, placeOrder.body(toPlacing(BigInt(id), store.keyId)));
  raw.exec('commit');
  close();
  return made;
}
