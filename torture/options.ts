import { parseArgs } from 'node:util';
import type { Scenario } from './scenario.ts';

export interface Options {
  readonly chosen: readonly Scenario[];
  readonly seed: number;
  readonly scale: number;
  readonly isListed: boolean;
  readonly isWritten: boolean;
}

export const usage = `usage: npm run torture -- [options]

  --only LIST   run only these scenarios, such as kill,full-disk
  --seed N      the seed of all random choices (1)
  --scale N     the share of the full run: 0.1 runs a tenth of the rounds (1)
  --list        list the scenarios and their time limits, and run none
  --write       write the results into the fault table of docs/operations/fault-runs.md
  --help        print this
`;

/** Parses the command line. Throws an Error that names the mistake. */
export function readOptions(args: readonly string[], scenarios: readonly Scenario[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      seed: { type: 'string', default: '1' },
      scale: { type: 'string', default: '1' },
      list: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  });
  return {
    chosen: values.only === undefined ? scenarios : choose(values.only.split(','), scenarios),
    seed: parseNumber(values.seed, /^\d{1,9}$/, 'a seed is a whole number'),
    scale: parseNumber(values.scale, /^(?=.*[1-9])\d{1,3}(?:\.\d{1,3})?$/, 'a scale is a number above 0'),
    isListed: values.list,
    isWritten: values.write,
  };
}

function choose(names: readonly string[], scenarios: readonly Scenario[]): readonly Scenario[] {
  const unknown = names.find((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) throw new Error(`there is no scenario ${unknown}; --list names them`);
  return scenarios.filter(({ name }) => names.includes(name));
}

function parseNumber(text: string, form: RegExp, rule: string): number {
  if (!form.test(text)) throw new Error(`${rule}, not ${text}`);
  return Number(text);
}
