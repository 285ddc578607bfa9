import { parseArgs } from 'node:util';
import { scenarios } from './scenarios.ts';

/** How the command line is used. */
export const usage = `usage: npm run bench -- [options]

  without any      the service against a bare server and the peers, in every scenario
  --layers         instead: where the time of a request goes
  --long MINUTES   instead: memory over a long run
  --sizes LIST     instead: catalogues of several sizes, as in 1000,100000,1000000,10000000
  --instructions   instead: how many instructions a request is, with --sizes in each of them

  --only LIST      of the scenarios only these: ${scenarios.map(({ name }) => name).join(', ')}
  --peers          with the peers (the default without --only)
  --no-peers       without them
  --rounds N       rounds of each scenario (5)
  --seconds N      seconds of each round (2)
  --quiet N        count only loads between two seconds in which a bare server answers at least N lists (not with
                   --layers, --long and --instructions)
  --animals N      animals in the store (100000)
  --write          put the result into docs/performance.md
  --help           print this
`;

export interface Options {
  readonly withLayers: boolean;
  readonly withInstructions: boolean;
  /** Zero where no long run is wanted. */
  readonly longMinutes: number;
  /** Empty where no sizes are to be compared. */
  readonly sizes: readonly number[];
  readonly only: readonly string[];
  readonly withPeers: boolean;
  readonly rounds: number;
  readonly seconds: number;
  /** How many lists a bare server answers in a second that is quiet enough; zero where any is. */
  readonly quietRate: number;
  readonly animals: number;
  readonly isWritten: boolean;
}

/** Reads the command line. Throws an Error that says what is wrong with it and how it is used. */
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
    allowNegative: true,
    options: {
      layers: { type: 'boolean', default: false },
      instructions: { type: 'boolean', default: false },
      long: { type: 'string' },
      sizes: { type: 'string' },
      only: { type: 'string' },
      peers: { type: 'boolean' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2' },
      quiet: { type: 'string' },
      animals: { type: 'string', default: '100000' },
      write: { type: 'boolean', default: false },
    },
  });
  const withoutQuiet = (['layers', 'long', 'instructions'] as const).find((name) => values[name]);
  if (values.quiet !== undefined && withoutQuiet !== undefined)
    throw new Error(`--quiet does not go with --${withoutQuiet}`);
  return {
    withLayers: values.layers,
    withInstructions: values.instructions,
    longMinutes: values.long === undefined ? 0 : parseCount(values.long),
    sizes: [...new Set(values.sizes?.split(',').map(parseCount))],
    only: parseScenarios(values.only),
    withPeers: values.peers ?? values.only === undefined,
    rounds: parseCount(values.rounds),
    seconds: parseCount(values.seconds),
    quietRate: values.quiet === undefined ? 0 : parseCount(values.quiet),
    animals: parseCount(values.animals),
    isWritten: values.write,
  };
}

function parseScenarios(list: string | undefined): readonly string[] {
  const known = scenarios.map(({ name }) => name);
  const chosen = list?.split(',') ?? known;
  const unknown = chosen.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`there is no scenario ${unknown}`);
  return chosen;
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(`${text} is no whole number from 1 to 999999999`);
}
