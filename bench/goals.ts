import { formatSpread } from './report.ts';
import type { Measured } from './rounds.ts';
import { compareRates } from './statistics.ts';
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

/** Holds what was measured against the goals; a goal whose scenario or server is missing is passed over. */
export function judge(measured: readonly Measured[]): Verdict[] {
  const own = measured.filter(({ subject }) => subject === service.name);
  const ratios = ratioGoals.flatMap((goal) => {
    const mine = own.find(({ scenario }) => scenario.name === goal.scenario);
    const other = measured.find(
      ({ scenario, subject }) => scenario.name === goal.scenario && subject === goal.than,
    );
    return mine === undefined || other === undefined ? [] : [judgeRatio(goal, mine, other)];
  });
  const waits = own.filter(({ scenario }) => scenario.connections > 1).map(judgeWait);
  return [...ratios, ...waits];
}

function judgeRatio({ than, atLeast }: RatioGoal, mine: Measured, other: Measured): Verdict {
  const spread = compareRates(mine.rates, other.rates);
  return {
    goal: `${mine.scenario.title}, against ${than}`,
    wanted: `at least ${atLeast}`,
    measured: formatSpread(spread),
    isMet: spread.median >= atLeast,
  };
}

function judgeWait({ scenario, p99Ms }: Measured): Verdict {
  return {
    goal: `${scenario.title}, p99`,
    wanted: `below ${p99MsBelow} ms`,
    measured: `${p99Ms.toFixed(2)} ms`,
    isMet: p99Ms < p99MsBelow,
  };
}
