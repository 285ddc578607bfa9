import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { generateKey } from '../../../src/accounts/api-key.ts';
import { exchange, exchangeAny } from '../../exchange.ts';
import { startServer } from '../../processes.ts';
import { toRecorded } from '../../recording.ts';
import { hotPage } from '../../scenarios.ts';
import type { RecordedBeside } from '../../servers/bare-beside.ts';
import { bareBesideFile, onNode } from '../../subjects.ts';
import type { AskersOrder } from '../askers.ts';
import { askFor, readAsk, settleMs, warmUp } from '../beside.ts';
import { startClients } from '../clients.ts';
import { type Figure, noFailures } from '../figures.ts';
import type { Asked } from '../good-client.ts';
import { freePlan, type Ground, issueKeys, withService } from '../ground.ts';
import type { Note, Row } from '../row.ts';
import { formatRequest } from '../texts.ts';

/** Connections whose requests are refused, and one of their keys. */
interface Refused extends Pick<AskersOrder, 'connections' | 'texts'> {
  readonly key: string;
}

/** With many more connections, libuv starves the bare server as well, and a goal relative to it would say nothing. */
const bareConnections = 64;

export const strangers: Row = {
  name: 'strangers-1100',
  title: '1,100 strangers, whose keys are unknown',
  engine: 'SQLite',
  measure: (ground, note) =>
    compareWithBare(ground, { connections: 1_100, texts: 'strangers', key: generateKey('live') }, note),
};

export const manyStrangers: Row = {
  name: 'strangers-5000',
  title: '5,000 strangers',
  engine: 'SQLite',
  async measure(ground, note) {
    const refused: Refused = { connections: 5_000, texts: 'strangers', key: generateKey('live') };
    const { asked } = await measureService(ground, refused, note);
    return [{ goal: 'read: p90', value: asked.p90Ms, max: 100, unit: 'ms' }, noFailures([asked])];
  },
};

export const bannedKey: Row = {
  name: 'banned-key',
  title: '1,500 connections of one Free key, which is far over its limit and then banned',
  engine: 'SQLite',
  async measure(ground, note) {
    const [key = ''] = await issueKeys(ground, 1, freePlan);
    return await compareWithBare(
      ground,
      { connections: 1_500, texts: [formatRequest(hotPage, key)], key },
      note,
    );
  },
};

async function compareWithBare(ground: Ground, refused: Refused, note: Note): Promise<Figure[]> {
  const { asked, recorded } = await measureService(ground, refused, note);
  const bare = await measureBare(ground, { ...refused, connections: bareConnections }, recorded);
  return [
    {
      goal: 'read: p50',
      value: asked.p50Ms,
      max: 3 * bare.p50Ms + 5,
      unit: 'ms',
      rule: '3 × bare + 5 ms',
    },
    {
      goal: 'read: p90',
      value: asked.p90Ms,
      max: 3 * bare.p90Ms + 20,
      unit: 'ms',
      rule: '3 × bare + 20 ms',
    },
    noFailures([asked]),
  ];
}

/** Measures the service, and records its answers for the bare server. */
function measureService(ground: Ground, refused: Refused, note: Note) {
  return withService(ground, async ({ origin }) => {
    await warmUp(origin, ground.key);
    const asked = await askBeside(origin, ground, refused, note);
    const authorization = `Bearer ${ground.key}`;
    const recorded: RecordedBeside = {
      authorization,
      good: toRecorded(await exchange(origin, hotPage, { authorization })),
      others: toRecorded(await exchangeAny(origin, hotPage, { authorization: `Bearer ${refused.key}` })),
    };
    return { asked, recorded };
  });
}

async function measureBare(ground: Ground, refused: Refused, recorded: RecordedBeside): Promise<Asked> {
  const { folder, key } = ground;
  const file = join(folder, 'recorded-beside.json');
  writeFileSync(file, JSON.stringify(recorded));
  const server = await startServer(
    (port) => onNode([bareBesideFile, String(port), file]),
    hotPage,
    { authorization: recorded.authorization },
    join(folder, 'bare-beside.log'),
  );
  try {
    await warmUp(server.origin, key);
    return await askBeside(server.origin, ground, refused, () => {});
  } finally {
    await server.stop();
  }
}

async function askBeside(
  origin: string,
  { key, seconds }: Ground,
  { connections, texts }: Refused,
  note: Note,
): Promise<Asked> {
  const crowd = await startClients({ kind: 'askers', origin, connections, texts });
  await pause(settleMs);
  const [asked] = await askFor([readAsk(origin, key)], seconds);
  note('crowd', await crowd.stop());
  note('read', asked);
  return asked;
}
