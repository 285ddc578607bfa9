import { busyReaders, strangers } from '../../../torture/abuse/busy-crowds.ts';
import { fewDescriptors, slowHeads } from '../../../torture/abuse/crowds.ts';
import { floods } from '../../../torture/abuse/floods.ts';
import { heavyInputs } from '../../../torture/abuse/heavy-inputs.ts';
import { stalledLog } from '../../../torture/abuse/stalled-log.ts';
import { testShort } from './test-short.ts';

/**
 * Short runs of the abuse scenarios. `npm run torture` runs those that take minutes because of the service's timeouts.
 * Tests in test/http/connection check the timeouts with shorter values.
 */
const parts = [
  [slowHeads, 0.02],
  [fewDescriptors, 0.1],
  [heavyInputs, 0.1],
  [stalledLog, 0.02],
] as const;

for (const [scenario, scale] of parts) testShort(scenario, scale, 7, 'a good client is served');
for (const flood of floods) testShort(flood, 0.05, 7, 'a good client is served');
for (const crowd of [strangers, busyReaders])
  testShort(crowd, 0.05, 7, 'a good client gets its turns until SIGTERM has answered every received request');
