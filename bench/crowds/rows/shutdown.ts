import { setTimeout as pause } from 'node:timers/promises';
import { hotPage } from '../../scenarios.ts';
import { settleMs, warmUp } from '../beside.ts';
import { startClients } from '../clients.ts';
import { withService } from '../ground.ts';
import type { Row } from '../row.ts';
import { formatRequest } from '../texts.ts';
import { connections } from './readers.ts';

/** The time in which a service with `DRAIN_SECONDS=0` ends after SIGTERM (docs/settings.md). */
const endSecondsMax = 10;
const watchSeconds = 15;

export const shutdown: Row = {
  name: 'shutdown',
  title: 'SIGTERM beside 2,000 connections of good clients',
  engine: 'SQLite',
  measure: (ground, note) =>
    withService(ground, async ({ origin, pid, ended }) => {
      await warmUp(origin, ground.key);
      const texts = [formatRequest(hotPage, ground.key)];
      const crowd = await startClients({ kind: 'askers', origin, connections, texts, isUntilClosed: true });
      await pause(ground.seconds * 1_000);
      const startedMs = performance.now();
      process.kill(pid, 'SIGTERM');
      const code = await Promise.race([ended, pause(watchSeconds * 1_000)]);
      const endSeconds = (performance.now() - startedMs) / 1_000;
      const seen = await Promise.race([crowd.seen, pause(settleMs).then(crowd.stop)]);
      note('crowd', seen);
      return [
        { goal: 'received requests without an answer', value: seen.lost, max: 0, unit: '' },
        { goal: 'time to the end of the process', value: endSeconds, max: endSecondsMax, unit: 's' },
        { goal: 'exit code', value: code ?? Number.NaN, max: 0, unit: '' },
      ];
    }),
};
