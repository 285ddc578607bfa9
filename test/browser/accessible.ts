import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Throws if axe-core finds a violation of WCAG 2.2 AA or of axe-core's best practices. */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  await page.evaluate(axe);
  const found = (await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => id + ': ' + html + ': ' + failureSummary)))`,
  )) as string[];
  assert.deepEqual(found, [], what);
}
