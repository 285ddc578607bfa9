import type { Locator, Page } from 'playwright-core';
import { nameOperation } from '../../src/http/operation.ts';

/** Opens the page of an operation, and fills in the key if one is given. */
export async function openOperation(page: Page, url: string, id: string, key?: string): Promise<void> {
  await page.goto(`${url}/docs/reference/${nameOperation({ id })}`);
  if (key !== undefined) await page.getByLabel('API key').fill(key);
}

/** Fills in and sends the form of the open operation. Returns the answer on the page. */
export async function tryOperation(page: Page, fill: (form: Locator) => Promise<unknown> = async () => {}) {
  const section = page.locator('#try');
  await fill(section.locator('form'));
  await section.getByRole('button', { name: 'Send' }).click();
  const captions = section.locator('.answer .caption');
  await captions.first().waitFor();
  return {
    status: (await captions.first().textContent())?.slice(0, 3),
    body: await section.locator('.answer pre').first().textContent(),
  };
}
