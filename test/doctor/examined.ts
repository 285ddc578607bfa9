import assert from 'node:assert/strict';
import { type Clock, systemClock } from '../../src/clock.ts';
import { parseConfig } from '../../src/config.ts';
import { examine } from '../../src/doctor/examine.ts';
import type { Finding } from '../../src/doctor/finding.ts';

/** Runs the doctor with these settings, on free ports by default. Returns the findings. */
export function examineWith(
  settings: Record<string, string>,
  clock: Clock = systemClock,
): Promise<Finding[]> {
  const readConfig = () => parseConfig({ PORT: '0', OPS_PORT: '0', ...settings });
  return examine({ readConfig, misnamed: [], secretFiles: [], clock });
}

/** Throws unless exactly one finding of a check has this verdict, and its text matches. */
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
