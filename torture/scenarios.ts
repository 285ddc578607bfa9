import { busyReaders, strangers } from './abuse/busy-crowds.ts';
import {
  fewDescriptors,
  idleSockets,
  longBodies,
  slowBodies,
  slowHeads,
  slowReaders,
} from './abuse/crowds.ts';
import { floods } from './abuse/floods.ts';
import { heavyInputs } from './abuse/heavy-inputs.ts';
import { stalledLog } from './abuse/stalled-log.ts';
import { fuzzApi } from './fuzz/api.ts';
import { fuzzWire } from './fuzz/wire.ts';
import { killCommands } from './kill/commands.ts';
import { failover } from './kill/failover.ts';
import { freshness } from './kill/freshness.ts';
import { kill, killShared } from './kill/kill.ts';
import { powerLoss } from './power-loss/power-loss.ts';
import type { Scenario } from './scenario.ts';
import { rollingRestarts } from './shutdown/rolling.ts';
import { terminate } from './shutdown/terminate.ts';
import { soak } from './soak/soak.ts';
import { damaged } from './storage/damaged.ts';
import { fullDisk, locked, removed, unwritable } from './storage/faults.ts';
import { hangingDisk, slowDisks } from './storage/slow.ts';
import { hangingPostgres, slowPostgres } from './storage/slow-postgres.ts';

/** The scenarios of `npm run torture`, in order. */
export const scenarios: readonly Scenario[] = [
  kill,
  killShared,
  killCommands,
  failover,
  freshness,
  powerLoss,
  terminate,
  rollingRestarts,
  fullDisk,
  unwritable,
  damaged,
  locked,
  removed,
  ...slowDisks,
  hangingDisk,
  slowPostgres(20),
  slowPostgres(300),
  hangingPostgres,
  fewDescriptors,
  slowHeads,
  slowBodies,
  longBodies,
  slowReaders,
  idleSockets,
  strangers,
  busyReaders,
  ...floods,
  heavyInputs,
  stalledLog,
  fuzzApi,
  fuzzWire,
  soak,
];
