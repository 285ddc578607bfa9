/** The benchmark: README.md says what it measures and how. */
import { makeTemporaryFolder } from './cleanup.ts';
import { compare } from './comparison.ts';
import type { Plan, Terms } from './entrant.ts';
import { measureInstructions, requireValgrind } from './instructions.ts';
import { measureLayers } from './layers.ts';
import { describeMachine, moveToLoadCore } from './machine.ts';
import { measureMemory } from './memory.ts';
import { type Options, readOptions, usage } from './options.ts';
import { type Block, writeBlock, writePlot } from './performance-page.ts';
import { atAnyTime, startQuiet } from './quiet.ts';
import { measureSizes } from './sizes.ts';
import { buildStore } from './store.ts';
import { walkPages } from './walk.ts';
import { requireWrk } from './wrk.ts';

async function preparePlan(terms: Terms, animals: number): Promise<Plan> {
  process.stderr.write(`building a store of ${animals} animals\n`);
  const store = await buildStore(terms.folder, animals);
  return { ...terms, store, walk: await walkPages(terms.folder, store) };
}

/** Prints what was found, and puts it into the documentation if that is wanted. */
function tell(block: Block, found: string, terms: Terms & Options): void {
  const { animals, rounds, seconds, quiet, isWritten } = terms;
  const day = new Date().toISOString().slice(0, 10);
  const inRounds = ` unless said, ${rounds} rounds of ${seconds} s${quiet.describe()}`;
  const effort = `; ${animals.toLocaleString('en')} animals${block === 'memory' ? '' : inRounds}`;
  const text = `Measured on ${day}: ${describeMachine()}${block === 'instructions' ? '' : effort}.\n\n${found}`;
  process.stdout.write(`\n${text}`);
  if (isWritten) writeBlock(block, text);
}

/** Measures what is wanted, and gives whether all goals that it showed are met. */
async function measure(options: Options): Promise<boolean> {
  const folder = makeTemporaryFolder();
  const quiet = options.quietRate === 0 ? atAnyTime : await startQuiet(folder, options.quietRate);
  const terms = { ...options, folder, quiet };
  if (options.withInstructions) {
    requireValgrind();
    const sizes = options.sizes.length > 0 ? options.sizes : [options.animals];
    const { report, areGoalsMet } = await measureInstructions(terms, sizes);
    tell('instructions', report, terms);
    return areGoalsMet;
  }
  if (options.sizes.length > 0) {
    const { report, areGoalsMet } = await measureSizes(terms, options.sizes);
    tell('sizes', report, terms);
    return areGoalsMet;
  }
  const plan = await preparePlan(terms, options.animals);
  if (options.withLayers) {
    tell('layers', await measureLayers(plan), terms);
    return true;
  }
  if (options.longMinutes > 0) {
    const { report, areGoalsMet } = await measureMemory(plan, options.longMinutes);
    tell('memory', report, terms);
    return areGoalsMet;
  }
  const { report, plot, areGoalsMet } = await compare(plan, options);
  tell('comparison', report, terms);
  if (options.isWritten) writePlot(plot);
  return areGoalsMet;
}

if (process.argv.includes('--help')) {
  process.stdout.write(usage);
  process.exit();
}
try {
  const options = readOptions(process.argv.slice(2));
  requireWrk();
  moveToLoadCore();
  if (await measure(options)) process.exit();
  process.stderr.write('\nbench: not every goal is met\n');
  process.exit(1);
} catch (error) {
  process.stderr.write(`\nbench: ${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}
