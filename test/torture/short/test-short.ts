import { test } from 'node:test';
import { runScenario } from '../../../torture/run-scenario.ts';
import type { Scenario } from '../../../torture/scenario.ts';

/** Defines a test that runs a scenario at a small scale. If the machine cannot run it, the test is skipped with a message. */
export function testShort(
  scenario: Scenario,
  scale: number,
  seed = 1,
  promise = 'no answered change is lost',
): void {
  test(`${scenario.title}: ${promise}`, async (t) => {
    const log = (line: string) => t.diagnostic(line);
    const result = await runScenario(scenario, { seed, scale, log });
    if (result.kind === 'held') return;
    process.stderr.write(`\nSKIPPED: ${scenario.name}: ${result.reason}\n`);
    t.skip(result.reason);
  });
}
