/** The command `npm run torture`: runs faults and abuse against the real service. */
import { describeMachine, type Row, writeRows } from './fault-table.ts';
import { type Options, readOptions, usage } from './options.ts';
import { runScenario } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);

function tellRow({ outcome: { done, seen, lost, well }, seconds }: Row): void {
  say(`  done       ${done}\n  seen       ${seen}\n  lost       ${lost}\n  recovered  ${well}`);
  say(`  held, ${seconds.toFixed(1)} s`);
}

/**
 * Runs the scenarios one after the other. Returns the rows of those that passed, and the names of those that failed or
 * were skipped.
 */
async function runAll({ chosen, seed, scale }: Options) {
  const rows: Row[] = [];
  const broken: string[] = [];
  const skipped: string[] = [];
  const day = new Date().toISOString().slice(0, 10);
  for (const scenario of chosen) {
    const { name, title, minutes } = scenario;
    say(`\n${name}: ${title} (at most ${minutes} min)`);
    try {
      const result = await runScenario(scenario, { seed, scale, log: (line) => say(`  ${line}`) });
      if (result.kind === 'skipped') {
        say(`  SKIPPED: ${result.reason}`);
        skipped.push(name);
        continue;
      }
      const row = { name, seed, scale, day, outcome: result.outcome, seconds: result.seconds };
      tellRow(row);
      rows.push(row);
    } catch (error) {
      say(`  BROKEN: ${error instanceof Error ? error.message : error}`);
      broken.push(name);
    }
  }
  return { rows, broken, skipped };
}

function list(chosen: readonly Scenario[]): void {
  for (const { name, title, minutes } of chosen) say(`${name.padEnd(20)} ${title} (at most ${minutes} min)`);
}

async function torture(options: Options): Promise<number> {
  if (options.isListed) {
    list(options.chosen);
    return 0;
  }
  say(`${describeMachine()}, Node ${process.version.slice(1)}, seed ${options.seed}, scale ${options.scale}`);
  const { rows, broken, skipped } = await runAll(options);
  say(`\n${rows.length} held, ${broken.length} broken, ${skipped.length} skipped`);
  if (broken.length > 0) say(`BROKEN: ${broken.join(', ')}`);
  if (skipped.length > 0) say(`SKIPPED (not verified on this machine): ${skipped.join(', ')}`);
  if (options.isWritten)
    writeRows(
      rows,
      scenarios.map(({ name }) => name),
    );
  return broken.length > 0 ? 1 : 0;
}

if (process.argv.includes('--help')) {
  process.stdout.write(usage);
  process.exit();
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
try {
  process.exit(await torture(readOptions(process.argv.slice(2), scenarios)));
} catch (error) {
  process.stderr.write(`torture: ${error instanceof Error ? error.message : error}\n\n${usage}`);
  process.exit(1);
}
