import { connectFlood, idleSockets } from './abuse/crowds.ts';
import { fewDescriptors } from './abuse/few-descriptors.ts';
import { heavyFlood, overlongFlood, pipelinedFlood, tooHeavyFlood, unreadFlood } from './abuse/floods.ts';
import { hugeHeads } from './abuse/heads.ts';
import { heavyInputs } from './abuse/heavy-inputs.ts';
import { slowBodies, slowHeads, slowReaders } from './abuse/slow.ts';
import { slowHttpTest } from './abuse/slowhttptest.ts';
import { stalledLog } from './abuse/stalled-log.ts';
import { manyAddresses, wrongKeys, wrongKeysShared } from './abuse/strangers.ts';
import { follow } from './follow/follow.ts';
import { freshness } from './freshness/freshness.ts';
import { fuzzApi } from './fuzz/api.ts';
import { fuzzExtensions } from './fuzz/extensions.ts';
import { fuzzWire } from './fuzz/wire.ts';
import { killCommands } from './kill/commands.ts';
import { kill } from './kill/kill.ts';
import { hangingPostgres, hangingRedis, slowStores } from './network/slow-stores.ts';
import { killOrders, killOrdersShared } from './orders/kill-orders.ts';
import { powerLoss } from './power-loss/power-loss.ts';
import type { Scenario } from './scenario.ts';
import { clockBack } from './shutdown/clock-back.ts';
import { secondInstance } from './shutdown/second-instance.ts';
import { terminate } from './shutdown/terminate.ts';
import { soak } from './soak/soak.ts';
import { damaged } from './storage/damaged.ts';
import { fullDisk } from './storage/full-disk.ts';
import { locked } from './storage/locked.ts';
import { removed } from './storage/removed.ts';
import { hangingDisk, slowDisks } from './storage/slow.ts';
import { unwritable } from './storage/unwritable.ts';

/** Each abuse runs twice: over SQLite, and over PostgreSQL with Redis. */
const abuses = [
  slowHeads,
  slowBodies,
  slowReaders,
  idleSockets,
  connectFlood,
  pipelinedFlood,
  heavyFlood,
  tooHeavyFlood,
  overlongFlood,
  unreadFlood,
  hugeHeads,
  heavyInputs,
  manyAddresses,
  slowHttpTest,
];

/** The scenarios of `npm run torture`, in order. */
export const scenarios: readonly Scenario[] = [
  kill,
  killCommands,
  killOrders,
  killOrdersShared,
  follow,
  freshness,
  powerLoss,
  terminate,
  secondInstance,
  clockBack,
  fullDisk,
  unwritable,
  damaged,
  locked,
  removed,
  ...slowDisks,
  hangingDisk,
  ...slowStores,
  hangingPostgres,
  hangingRedis,
  fewDescriptors,
  ...abuses,
  ...abuses.map(({ shared }) => shared),
  wrongKeys,
  wrongKeysShared,
  stalledLog,
  fuzzApi,
  fuzzExtensions,
  fuzzWire,
  soak,
];
