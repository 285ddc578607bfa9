import { parseArgs } from 'node:util';
import { judgedScenarios, type Scenario, scenarios } from './scenarios.ts';

export const usage = `usage: npm run bench -- [options]

  (no option)      compare the CPU time per request of the service and of a bare server
  --peers          compare the service with its peers, in the scenarios that they support
  --sizes LIST     compare stores of several sizes, such as 1000,1000000
  --long MINUTES   measure the memory over a long run

  --only LIST      run only these scenarios; a part of a name selects all with that part, such as list,get-304
  --rounds N       rounds of each scenario (3)
  --seconds N      seconds of each load (1)
  --animals N      animals in the store (400000)
  --json           print JSON instead of a table
  --write          write the table into docs/performance.md
  --help           print this

  scenarios: ${scenarios.map(({ name }) => name).join(', ')}
`;

export interface Options {
  readonly withPeers: boolean;
  /** Minutes of the long run. 0 runs none. */
  readonly longMinutes: number;
  /** Sizes to compare, in animals. An empty list compares none. */
  readonly sizes: readonly number[];
  readonly chosen: readonly Scenario[];
  readonly rounds: number;
  readonly seconds: number;
  readonly animals: number;
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
      only: { type: 'string' },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '1' },
      animals: { type: 'string', default: '400000' },
      json: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  });
  return {
    withPeers: values.peers,
    longMinutes: values.long === undefined ? 0 : parseCount(values.long),
    sizes: [...new Set(values.sizes?.split(',').map(parseCount))],
    chosen: values.only === undefined ? judgedScenarios : chooseScenarios(values.only),
    rounds: parseCount(values.rounds),
    seconds: parseCount(values.seconds),
    animals: parseCount(values.animals),
    isJson: values.json,
    isWritten: values.write,
  };
}

/** Returns the scenarios of a list in the form of `--only`. Throws if a word matches no scenario. */
export function chooseScenarios(list: string): Scenario[] {
  const words = list.split(',');
  const isChosenBy = (word: string, { name }: Scenario) => name === word || name.split('-').includes(word);
  const unknown = words.find((word) => !scenarios.some((scenario) => isChosenBy(word, scenario)));
  if (unknown !== undefined) throw new Error(`there is no scenario ${unknown}`);
  return scenarios.filter((scenario) => words.some((word) => isChosenBy(word, scenario)));
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(`${text} is not a whole number from 1 to 999999999`);
}
