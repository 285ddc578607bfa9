import { join } from 'node:path';
import { launchBrowser, openVisit, skip } from '../test/browser/chromium.ts';
import { openReference, tryOperation } from '../test/browser/reference.ts';
import { startService } from '../test/support/service.ts';

/** Where the README has its picture of the reference page. */
const path = join(import.meta.dirname, '../docs/docs-page.png');
const viewport = { width: 1200, height: 860 };

if (skip !== false) throw new Error(skip);
const endings: (() => unknown)[] = [];
const test = { after: (end: () => unknown) => void endings.push(end) };
const browser = await launchBrowser();
try {
  const { app, createKey, post } = await startService(test, { ENVIRONMENT: 'development' });
  const key = await createKey('pro');
  await post(key, '{"name":"Rex","categoryId":1}');
  await post(key, '{"name":"Élodie","categoryId":9223372036854775807,"status":"pending"}');
  const { page } = await openVisit(test, browser, { viewport, colorScheme: 'light' });
  await openReference(page, app.url);
  await page.getByLabel('API key').fill(key);
  await tryOperation(page, 'listPets', async () => {});
  // A picture is no place for a key, though its store is gone.
  await page.getByLabel('API key').fill('as_dev_…');
  await page.evaluate(`{
    document.activeElement.blur();
    const answer = document.querySelector('.live-responses-table');
    scrollTo(0, scrollY + answer.getBoundingClientRect().top - 120);
  }`);
  await page.screenshot({ path });
} finally {
  for (const end of endings.reverse()) await end();
  await browser.close();
}
