/** The command `npm run bench`. README.md describes the measurements. */
import { makeTemporaryFolder } from './cleanup.ts';
import { compare, preparePeers } from './comparison.ts';
import { measureCrowds } from './crowds/crowds.ts';
import type { Plan } from './entrant.ts';
import { isGoalMet, judgePaces } from './goals.ts';
import { describeMachine } from './machine.ts';
import { measureMemory } from './memory.ts';
import { type Options, readOptions, usage } from './options.ts';
import { type Block, writeBlock } from './performance-page.ts';
import { formatComparisons, formatOthers, formatSubjects, formatVerdicts, toJson } from './report.ts';
import { measureSizes } from './sizes.ts';
import { buildStore } from './store.ts';
import { walkPages } from './walk.ts';
import { requireWrk } from './wrk.ts';

interface Found {
  readonly block: Block;
  readonly report: string;
  readonly json?: object;
  readonly areGoalsMet: boolean;
}

async function preparePlan(folder: string, { animals, rounds, seconds }: Options): Promise<Plan> {
  process.stderr.write(`building a store of ${animals} animals\n`);
  const store = await buildStore(folder, animals);
  return { folder, rounds, seconds, store, walk: await walkPages(folder, store) };
}

async function measure(folder: string, options: Options): Promise<Found> {
  const { sizes, longMinutes, withPeers, chosen, crowds } = options;
  if (crowds.length > 0)
    return { block: 'crowds', ...(await measureCrowds(folder, { ...options, rows: crowds })) };
  if (sizes.length > 0) return { block: 'sizes', ...(await measureSizes(folder, options)) };
  const plan = await preparePlan(folder, options);
  if (longMinutes > 0) return { block: 'memory', ...(await measureMemory(plan, longMinutes)) };
  if (withPeers) {
    const scenarios = chosen.filter(({ peerOperation }) => peerOperation !== null);
    const comparisons = await compare(plan, scenarios, await preparePeers(plan));
    return { block: 'peers', report: formatSubjects(comparisons), areGoalsMet: true };
  }
  const comparisons = await compare(plan, chosen);
  const paces = judgePaces(comparisons);
  const verdicts = paces.length === 0 ? '' : `\n${formatVerdicts(paces)}`;
  return {
    block: 'comparison',
    report: formatComparisons(comparisons) + formatOthers(comparisons) + verdicts,
    json: toJson(comparisons),
    areGoalsMet: [...comparisons.map(isGoalMet), ...paces.map(({ isMet }) => isMet)].every(
      (isMet) => isMet !== false,
    ),
  };
}

/** Prints the result. If `isWritten` is true, also writes the result into docs/performance.md. */
function publish(
  { block, report, json }: Found,
  { animals, rounds, seconds, isJson, isWritten }: Options,
): void {
  const day = new Date().toISOString().slice(0, 10);
  const effort = `${animals.toLocaleString('en')} animals unless stated otherwise, ${rounds} rounds of ${seconds} s`;
  const terms = `Measured on ${day}: ${describeMachine()}; ${effort}.`;
  const text = `${terms}\n\n${report}`;
  process.stdout.write(
    isJson
      ? `${JSON.stringify({ terms, scenarios: json, report: json ? undefined : report })}\n`
      : `\n${text}`,
  );
  if (isWritten) writeBlock(block, text);
}

if (process.argv.includes('--help')) {
  process.stdout.write(usage);
  process.exit();
}
try {
  const options = readOptions(process.argv.slice(2));
  if (options.crowds.length === 0) requireWrk();
  const found = await measure(makeTemporaryFolder(), options);
  publish(found, options);
  if (found.areGoalsMet) process.exit();
  process.stderr.write('\nbench: not every goal is met\n');
  process.exit(1);
} catch (error) {
  process.stderr.write(`\nbench: ${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}
