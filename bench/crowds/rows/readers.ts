import { setTimeout as pause } from 'node:timers/promises';
import { hotPage } from '../../scenarios.ts';
import { addAsk, askFor, readAsk, readyAsk, settleMs, warmUp } from '../beside.ts';
import { startClients } from '../clients.ts';
import { type Figure, noFailures } from '../figures.ts';
import { withService } from '../ground.ts';
import type { Row } from '../row.ts';
import { formatRequest } from '../texts.ts';

export const connections = 2_000;

export const readers: Row = {
  name: 'readers',
  title: '2,000 connections of good clients that read as fast as they are answered',
  engine: 'SQLite',
  measure: (ground, note) =>
    withService(ground, async ({ origin, opsOrigin }) => {
      const { key, seconds } = ground;
      await warmUp(origin, key);
      const texts = [formatRequest(hotPage, key)];
      const crowd = await startClients({ kind: 'askers', origin, connections, texts });
      await pause(settleMs);
      const asks = [
        readAsk(origin, key, true),
        addAsk(origin, key, true),
        readyAsk(opsOrigin, true),
      ] as const;
      const asked = await askFor(asks, seconds);
      const seen = await crowd.stop();
      note('crowd', seen);
      note('read, add, readyz', asked);
      // The time in which the crowd is answered once.
      const turnMs = (connections / seen.answersPerSecond) * 1_000;
      const refused = Object.entries(seen.answers).filter(([status]) => status !== '200');
      const [read, add, ready] = asked;
      const times = (name: string, value: number, turns: number, rule: string): Figure => ({
        goal: `${name}: p50`,
        value,
        max: turns * turnMs + 20,
        unit: 'ms',
        rule,
      });
      return [
        times('read on a new connection', read.p50Ms, 2, '2 T + 20 ms'),
        times('add on a new connection', add.p50Ms, 4, '4 T + 20 ms'),
        times('/readyz', ready.p50Ms, 1, 'T + 20 ms'),
        noFailures(asked),
        {
          goal: 'refused or lost requests of the crowd',
          value: refused.reduce((sum, [, count]) => sum + count, seen.lost + seen.unread),
          max: 0,
          unit: '',
        },
      ];
    }),
};
