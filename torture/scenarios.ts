import { idleSockets } from './abuse/crowds.ts';
import { fewDescriptors } from './abuse/few-descriptors.ts';
import { overlongFlood, pipelinedFlood } from './abuse/floods.ts';
import { hugeHeads } from './abuse/heads.ts';
import { heavyInputs } from './abuse/heavy-inputs.ts';
import { slowBodies, slowHeads, slowReaders } from './abuse/slow.ts';
import { stalledLog } from './abuse/stalled-log.ts';
import { wrongKeys, wrongKeysShared } from './abuse/strangers.ts';
import { failover } from './failover/postgres.ts';
import { sentinelFailover } from './failover/sentinel.ts';
import { follow } from './follow/follow.ts';
import { freshness } from './freshness/freshness.ts';
import { fuzzApi } from './fuzz/api.ts';
import { fuzzWire } from './fuzz/wire.ts';
import { killCommands } from './kill/commands.ts';
import { kill } from './kill/kill.ts';
import { hangingPostgres, hangingRedis, slowStores } from './network/slow-stores.ts';
import { killOrders, killOrdersShared } from './orders/kill-orders.ts';
import { powerLoss } from './power-loss/power-loss.ts';
import type { Scenario } from './scenario.ts';
import { clockBack } from './shutdown/clock-back.ts';
import { rollingRestarts } from './shutdown/rolling.ts';
import { secondInstance } from './shutdown/second-instance.ts';
import { terminate } from './shutdown/terminate.ts';
import { soak } from './soak/soak.ts';
import { damaged } from './storage/damaged.ts';
import { fullDisk } from './storage/full-disk.ts';
import { locked } from './storage/locked.ts';
import { removed } from './storage/removed.ts';
import { hangingDisk, slowDisks } from './storage/slow.ts';
import { unwritable } from './storage/unwritable.ts';

const abuses = [
  slowHeads,
  slowBodies,
  slowReaders,
  idleSockets,
  pipelinedFlood,
  overlongFlood,
  hugeHeads,
  heavyInputs,
];

/** The scenarios of `npm run torture`, in order. */
export const scenarios: readonly Scenario[] = [
  kill,
  killCommands,
  killOrders,
  killOrdersShared,
  follow,
  failover,
  sentinelFailover,
  freshness,
  powerLoss,
  terminate,
  rollingRestarts,
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
  wrongKeys,
  wrongKeysShared,
  stalledLog,
  fuzzApi,
  fuzzWire,
  soak,
];
