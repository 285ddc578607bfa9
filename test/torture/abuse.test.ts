import { fewDescriptors } from '../../torture/abuse/few-descriptors.ts';
import { overlongFlood, pipelinedFlood } from '../../torture/abuse/floods.ts';
import { hugeHeads } from '../../torture/abuse/heads.ts';
import { heavyInputs } from '../../torture/abuse/heavy-inputs.ts';
import { slowHeads } from '../../torture/abuse/slow.ts';
import { stalledLog } from '../../torture/abuse/stalled-log.ts';
import { wrongKeys, wrongKeysShared } from '../../torture/abuse/strangers.ts';
import { testShort } from './short.ts';

/**
 * Short runs of the abuse scenarios. `npm run torture` runs those that take minutes because of the service's timeouts.
 * Tests in test/http/connection check the timeouts with shorter values.
 */
const parts = [
  [slowHeads, 0.02],
  [fewDescriptors, 0.1],
  [pipelinedFlood, 0.05],
  [overlongFlood, 0.05],
  [hugeHeads, 0.05],
  [heavyInputs, 0.1],
  [wrongKeys, 0.002],
  [stalledLog, 0.02],
  [wrongKeysShared, 0.03],
] as const;

for (const [scenario, scale] of parts) testShort(scenario, scale, 7, 'a good client is served');
