import { parseArgs } from 'node:util';
import type { Row } from './crowds/row.ts';
import { rows } from './crowds/rows.ts';
import { judgedScenarios, type Scenario, scenarios } from './scenarios.ts';

/** The servers of this machine that several instances share. */
export const servers = {
  postgres: 'postgres://127.0.0.1:5432/postgres',
  redis: 'redis://127.0.0.1:6379',
} as const;

export const usage = `usage: npm run bench -- [options]

  (no option)      compare the CPU time per request of the service and of a bare server
  --peers          compare the service with its peers, in the scenarios that they support
  --sizes LIST     compare stores of several sizes, such as 1000,1000000
  --long MINUTES   measure the memory over a long run
  --crowds         measure what crowds cost a good client

  --only LIST      run only these scenarios or crowds; a part of a name selects all with that part, such as list,get-304
  --rounds N       rounds of each scenario (3)
  --seconds N      seconds of each load (1; with --crowds 4)
  --animals N      animals in the store (400000; with --crowds 100000)
  --postgres URL   the PostgreSQL of --crowds (${servers.postgres})
  --redis URL      the Redis of --crowds (${servers.redis})
  --json           print JSON instead of a table
  --write          write the table into docs/performance.md
  --help           print this

  scenarios: ${scenarios.map(({ name }) => name).join(', ')}
  crowds: ${rows.map(({ name }) => name).join(', ')}
`;

export interface Options {
  readonly withPeers: boolean;
  /** Minutes of the long run. 0 runs none. */
  readonly longMinutes: number;
  /** Sizes to compare, in animals. An empty list compares none. */
  readonly sizes: readonly number[];
  /** The crowds to measure. An empty list measures none. */
  readonly crowds: readonly Row[];
  readonly chosen: readonly Scenario[];
  readonly rounds: number;
  readonly seconds: number;
  readonly animals: number;
  readonly postgresUrl: string;
  readonly redisUrl: string;
  readonly isJson: boolean;
  readonly isWritten: boolean;
}

/** Parses the command line. Throws an Error that has the mistake and the usage. */
export function readOptions(args: readonly string[]): Options {
  try {
    return parseOptions(args);
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  }
}

function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      peers: { type: 'boolean', default: false },
      sizes: { type: 'string' },
      long: { type: 'string' },
      crowds: { type: 'boolean', default: false },
      only: { type: 'string' },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string' },
      animals: { type: 'string' },
      postgres: { type: 'string', default: servers.postgres },
      redis: { type: 'string', default: servers.redis },
      json: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  });
  const { crowds: withCrowds, only } = values;
  const usual = withCrowds ? { seconds: '4', animals: '100000' } : { seconds: '1', animals: '400000' };
  return {
    withPeers: values.peers,
    longMinutes: values.long === undefined ? 0 : parseCount(values.long),
    sizes: [...new Set(values.sizes?.split(',').map(parseCount))],
    crowds: withCrowds ? (only === undefined ? rows : chooseByName(only, 'crowd', rows)) : [],
    chosen: withCrowds || only === undefined ? judgedScenarios : chooseScenarios(only),
    rounds: parseCount(values.rounds),
    seconds: parseCount(values.seconds ?? usual.seconds),
    animals: parseCount(values.animals ?? usual.animals),
    postgresUrl: values.postgres,
    redisUrl: values.redis,
    isJson: values.json,
    isWritten: values.write,
  };
}

/** Returns the scenarios of a list in the form of `--only`. Throws if a word matches no scenario. */
export const chooseScenarios = (list: string): Scenario[] => chooseByName(list, 'scenario', scenarios);

function chooseByName<T extends { readonly name: string }>(
  list: string,
  noun: string,
  all: readonly T[],
): T[] {
  const words = list.split(',');
  const isChosenBy = (word: string, { name }: T) => name === word || name.split('-').includes(word);
  const unknown = words.find((word) => !all.some((one) => isChosenBy(word, one)));
  if (unknown !== undefined) throw new Error(`there is no ${noun} ${unknown}`);
  return all.filter((one) => words.some((word) => isChosenBy(word, one)));
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(`${text} is not a whole number from 1 to 999999999`);
}
