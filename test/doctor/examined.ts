import assert from 'node:assert/strict';
import { type Clock, systemClock } from '../../src/clock.ts';
import { parseConfig } from '../../src/config.ts';
import { examine } from '../../src/doctor/examine.ts';
import type { Finding } from '../../src/doctor/finding.ts';

/** What the doctor finds with these settings, on free ports unless they name others. */
export function examineWith(
  settings: Record<string, string>,
  clock: Clock = systemClock,
): Promise<Finding[]> {
  return examine(() => parseConfig({ PORT: '0', OPS_PORT: '0', ...settings }), clock);
}

/** Fails unless there is just one finding of a check with this verdict, whose text is as it should be. */
export function expectFinding(
  findings: readonly Finding[],
  check: string,
  verdict: Finding['verdict'],
  is: RegExp,
): void {
  const alike = findings.filter((finding) => finding.check === check && is.test(finding.is));
  assert.deepEqual(
    alike.map((finding) => finding.verdict),
    [verdict],
    `${check} ${is}: ${JSON.stringify(findings, null, 1)}`,
  );
  for (const { todo } of alike) assert.equal(todo === null, verdict === 'ok');
}
