/** Runs mutation testing: changes the rule files, one change at a time, and prints the changes that no test detects. */
import { parseArgs } from 'node:util';
import { installPackages } from '../test/support/install-packages.ts';
import { formatShare, quote, writeVerdicts } from './page.ts';
import { mutate, type Verdict } from './stryker.ts';
import { targets } from './targets.ts';

const { values } = parseArgs({ options: { only: { type: 'string' }, write: { type: 'boolean' } } });
const names = values.only?.split(',') ?? targets.map(({ name }) => name);
const unknown = names.find((name) => !targets.some((target) => target.name === name));
if (unknown !== undefined)
  throw new Error(`there is no target ${unknown}; mutation/targets.ts lists the targets`);

const say = (line: string) => process.stdout.write(`${line}\n`);
await installPackages(import.meta.dirname);
const verdicts: Verdict[] = [];
for (const target of targets) {
  if (!names.includes(target.name)) continue;
  const verdict = await mutate(target);
  verdicts.push(verdict);
  report(verdict);
}
if (values.write === true) writeVerdicts(verdicts);
const weak = verdicts.filter(isWeak);
for (const { target } of weak)
  say(`${target.name}: fewer than ${target.killedMin} % of the mutants were killed`);
process.exitCode = weak.length > 0 ? 1 : 0;

function report({ target, mutants, killed, survivors }: Verdict): void {
  say(`${target.name}: ${killed} of ${mutants} mutants killed, ${formatShare(killed, mutants)}`);
  for (const { line, from, to } of survivors)
    say(`  survived: ${target.file}:${line} ${quote(from)} → ${quote(to)}`);
}

function isWeak({ target, mutants, killed }: Verdict): boolean {
  return target.killedMin !== null && 100 * killed < target.killedMin * mutants;
}
