import { setTimeout as pause } from 'node:timers/promises';
import { askFor, readAsk, settleMs, warmUp } from '../beside.ts';
import { startClients } from '../clients.ts';
import { noFailures } from '../figures.ts';
import { withService } from '../ground.ts';
import type { Row } from '../row.ts';

export const emptyConnects: Row = {
  name: 'empty-connects',
  title: '300 strangers, and 1,000 connections a second that send nothing',
  engine: 'SQLite',
  measure: ({ key, seconds, ...ground }, note) =>
    withService({ key, seconds, ...ground }, async ({ origin }) => {
      await warmUp(origin, key);
      const busy = await startClients({ kind: 'askers', origin, connections: 300, texts: 'strangers' });
      const empty = await startClients({ kind: 'connects', origin, perSecond: 1_000 });
      await pause(settleMs);
      const asked = await askFor([readAsk(origin, key, true)], seconds);
      note('strangers', await busy.stop());
      note('empty connections', await empty.stop());
      note('read', asked[0]);
      return [
        { goal: 'read on a new connection: p90', value: asked[0].p90Ms, max: 50, unit: 'ms' },
        noFailures(asked),
      ];
    }),
};
