import type { Locator, Page } from 'playwright-core';

/** Opens the reference and waits until it is shown. */
export async function openReference(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/docs`);
  await page.locator('.opblock').first().waitFor();
}

/** Opens an operation, fills its fields in, sends the request and gives what is shown of the answer. */
export async function tryOperation(
  page: Page,
  operationId: string,
  fill: (operation: Locator) => Promise<void>,
) {
  const operation = page.locator(`[id$="-${operationId}"]`);
  await operation.locator('.opblock-summary-control').click();
  await fill(operation);
  await operation.locator('.execute').click();
  const answer = operation.locator('.live-responses-table tbody');
  return {
    status: await answer.locator('.response-col_status').textContent(),
    body: await answer.locator('.highlight-code').first().textContent(),
  };
}
