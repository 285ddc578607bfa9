import { test } from 'node:test';
import { runScenario } from '../../torture/run-scenario.ts';
import type { Scenario } from '../../torture/scenario.ts';

/** A short run of a scenario as a test: what the machine does not permit is skipped, and says so. */
export function testShort(
  scenario: Scenario,
  scale: number,
  seed = 1,
  promise = 'nothing that was answered is lost',
): void {
  test(`${scenario.title}: ${promise}`, async (t) => {
    const log = (line: string) => t.diagnostic(line);
    const result = await runScenario(scenario, { seed, scale, log });
    if (result.kind === 'held') return;
    process.stderr.write(`\nSKIPPED: ${scenario.name}: ${result.reason}\n`);
    t.skip(result.reason);
  });
}
