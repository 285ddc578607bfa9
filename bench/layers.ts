import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { enter, type Plan, recordService, runOnce, warmUps } from './entrant.ts';
import { type Layer, layers } from './layer-rules.ts';
import { profilingArgs, readShares } from './profile.ts';
import { formatTable } from './report.ts';
import { measureScenario } from './rounds.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { bare, type Subject, service } from './subjects.ts';

const scenarioNames = ['list-hot', 'list-pages', 'get', 'create'];

interface Column {
  readonly heading: string;
  readonly timesUs: ReadonlyMap<Layer, number>;
}

/**
 * Where the time of a request goes: the server's CPU time for one, the median over the rounds, split by a sampled
 * profile of a further, equal run. The columns of the bare server say what of it nobody can save.
 */
export async function measureLayers(plan: Plan): Promise<string> {
  const columns: Column[] = [];
  for (const scenario of scenarios.filter(({ name }) => scenarioNames.includes(name))) {
    process.stderr.write(`${scenario.title}\n`);
    const measured = (await measureScenario(scenario, [bare, service], plan, [plan])).flat();
    const recordedFile = await recordService(scenario, plan);
    for (const subject of [bare, service]) {
      const cpuUs = measured.find((entry) => entry.subject === subject.name)?.cpuUs ?? Number.NaN;
      const shares = await profile(subject, scenario, recordedFile, plan);
      const timesUs = new Map([...shares].map(([layer, share]) => [layer, share * cpuUs]));
      columns.push({ heading: `${scenario.name}, ${subject === bare ? 'bare' : 'service'}`, timesUs });
    }
  }
  return formatColumns(columns);
}

function formatColumns(columns: readonly Column[]): string {
  const rows = layers.map((layer) => [layer, ...columns.map(({ timesUs }) => formatUs(timesUs.get(layer)))]);
  const sums = columns.map(({ timesUs }) => formatUs(timesUs.values().reduce((sum, us) => sum + us, 0)));
  const headings = ['µs of CPU per request', ...columns.map(({ heading }) => heading)];
  return formatTable(headings, [...rows, ['all', ...sums]]);
}

function formatUs(us: number | undefined): string {
  return us === undefined ? '-' : us.toFixed(2);
}

/** Loads a subject that records a profile, and gives the share of each layer once it is warm. */
async function profile(subject: Subject, scenario: Scenario, recordedFile: string, plan: Plan) {
  const profiles = join(plan.folder, `profile ${scenario.name} ${subject.name}`);
  mkdirSync(profiles);
  const entrant = await enter(profiled(subject, profiles), scenario, recordedFile, plan);
  try {
    for (const connections of warmUps) await runOnce(entrant, plan.seconds, connections);
    await runOnce(entrant, plan.seconds);
  } finally {
    await entrant.server.stop();
  }
  return readShares(profiles, plan.seconds);
}

function profiled(subject: Subject, folder: string): Subject {
  return {
    ...subject,
    build(port, ground) {
      const command = subject.build(port, ground);
      return { ...command, args: [...profilingArgs(folder), ...command.args] };
    },
  };
}
