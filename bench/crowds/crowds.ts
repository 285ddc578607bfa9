import type { Verdict } from '../goals.ts';
import { formatMet, formatTable } from '../report.ts';
import { type Figure, judgeRounds } from './figures.ts';
import type { Ground } from './ground.ts';
import type { Row } from './row.ts';
import { type WithStore, withStores } from './stores.ts';

export interface CrowdsOptions {
  readonly rows: readonly Row[];
  readonly rounds: number;
  readonly seconds: number;
  readonly animals: number;
  readonly postgresUrl: string;
  readonly redisUrl: string;
}

interface Judged {
  readonly row: Row;
  readonly verdicts: readonly Verdict[];
}

/** Measures what crowds cost the others. */
export async function measureCrowds(
  folder: string,
  options: CrowdsOptions,
): Promise<{ readonly report: string; readonly areGoalsMet: boolean }> {
  const judged: Judged[] = [];
  for (const engine of ['SQLite', 'PostgreSQL'] as const) {
    const rows = options.rows.filter((row) => row.engine === engine);
    if (rows.length === 0) continue;
    process.stderr.write(`building a store of ${options.animals} animals, ${engine}\n`);
    await withStores(engine, { folder, ...options }, async (withStore) => {
      for (const row of rows)
        judged.push({ row, verdicts: judgeRounds(await measureRow(row, folder, options, withStore)) });
    });
  }
  const verdicts = judged.flatMap((one) => one.verdicts);
  return { report: formatJudged(judged), areGoalsMet: verdicts.every(({ isMet }) => isMet) };
}

async function measureRow(
  row: Row,
  folder: string,
  { rounds, seconds, redisUrl }: CrowdsOptions,
  withStore: WithStore,
): Promise<Figure[][]> {
  const note = (who: string, seen: unknown) => process.stderr.write(`  ${who}: ${JSON.stringify(seen)}\n`);
  const measured: Figure[][] = [];
  for (let round = 1; round <= rounds; round += 1) {
    process.stderr.write(`${row.name}, round ${round}\n`);
    const measure = (store: Pick<Ground, 'databaseUrl' | 'key'>) =>
      row.measure({ ...store, folder, redisUrl, seconds }, note);
    measured.push(await withStore(measure));
  }
  return measured;
}

function formatJudged(judged: readonly Judged[]): string {
  return formatTable(
    ['crowd', 'goal', 'wanted', 'measured', 'met'],
    judged.flatMap(({ row, verdicts }) =>
      verdicts.map(({ goal, wanted, measured, isMet }, place) => [
        place === 0 ? row.title : '',
        goal,
        wanted,
        measured,
        formatMet(isMet),
      ]),
    ),
  );
}
