import { formatSpread } from './report.ts';
import type { Measured } from './rounds.ts';
import { compareRounds } from './statistics.ts';
import { bare, commitEach, service } from './subjects.ts';

/** What is to be reached: so many times the requests per second of another server in the same round. */
interface RatioGoal {
  readonly scenario: string;
  readonly than: string;
  readonly atLeast: number;
}

const afternoon = 'Fastify + better-sqlite3, an afternoon';
const p99MsBelow = 5;

const ratioGoals: readonly RatioGoal[] = [
  { scenario: 'list-hot', than: bare.name, atLeast: 0.75 },
  { scenario: 'list-pages', than: bare.name, atLeast: 0.65 },
  { scenario: 'get', than: bare.name, atLeast: 0.7 },
  { scenario: 'create', than: bare.name, atLeast: 0.5 },
  { scenario: 'mix', than: bare.name, atLeast: 0.5 },
  { scenario: 'create-1', than: commitEach.name, atLeast: 0.9 },
  { scenario: 'list-hot', than: afternoon, atLeast: 3 },
  { scenario: 'get', than: afternoon, atLeast: 1.7 },
  { scenario: 'create', than: afternoon, atLeast: 9 },
  ...['list-hot', 'get', 'create'].flatMap((scenario) =>
    ['Platformatic DB', 'Prism mock', 'json-server'].map((than) => ({ scenario, than, atLeast: 1 })),
  ),
];

export interface Verdict {
  readonly goal: string;
  readonly wanted: string;
  readonly measured: string;
  readonly isMet: boolean;
}

/**
 * Holds what was measured against the goals of the scenarios that were. A goal against a server that could not be
 * measured is not met; those against peers are passed over where none were wanted.
 */
export function judge(measured: readonly Measured[], withPeers: boolean): Verdict[] {
  const own = measured.filter(({ subject }) => subject === service.name);
  const ratios = ratioGoals.flatMap((goal) => {
    const mine = own.find(({ scenario }) => scenario.name === goal.scenario);
    const other = measured.find(
      ({ scenario, subject }) => scenario.name === goal.scenario && subject === goal.than,
    );
    if (mine === undefined || (other === undefined && !withPeers && !ownServers.has(goal.than))) return [];
    return [other === undefined ? missing(goal, mine) : judgeRatio(goal, mine, other)];
  });
  const waits = own.filter(({ scenario }) => scenario.connections > 1).map(judgeWait);
  return [...ratios, ...waits];
}

const ownServers = new Set([bare.name, commitEach.name]);

function missing({ than, atLeast }: RatioGoal, { scenario }: Measured): Verdict {
  const goal = `${scenario.title}, against ${than}`;
  return { goal, wanted: `at least ${atLeast}`, measured: 'not measured', isMet: false };
}

/** Whether costs stay as they are while something grows: the dearest is at most so many times the cheapest. */
export function judgeFlatness(goal: string, costs: readonly number[], timesMax: number): Verdict {
  const times = Math.max(...costs) / Math.min(...costs);
  return {
    goal,
    wanted: `at most ${timesMax} times the least`,
    measured: `${times.toFixed(2)} times`,
    isMet: times <= timesMax,
  };
}

/** Whether a figure stays below a bound. */
export function judgeBelow(goal: string, figure: number, bound: number, unit: string): Verdict {
  return {
    goal,
    wanted: `below ${bound} ${unit}`,
    measured: `${Math.round(figure)} ${unit}`,
    isMet: figure < bound,
  };
}

function judgeRatio({ than, atLeast }: RatioGoal, mine: Measured, other: Measured): Verdict {
  const spread = compareRounds(mine.rates, other.rates);
  return {
    goal: `${mine.scenario.title}, against ${than}`,
    wanted: `at least ${atLeast}`,
    measured: formatSpread(spread),
    isMet: spread.median >= atLeast,
  };
}

function judgeWait({ scenario, p99Ms }: Measured): Verdict {
  return {
    goal: `${scenario.title}, p99 of the median round`,
    wanted: `below ${p99MsBelow} ms`,
    measured: `${p99Ms.toFixed(2)} ms`,
    isMet: p99Ms < p99MsBelow,
  };
}
