import { join } from 'node:path';
import { launchBrowser, openVisit, skip } from '../test/browser/chromium.ts';
import { openOperation, tryOperation } from '../test/browser/reference.ts';
import { startService } from '../test/support/service.ts';

/** The screenshot of the reference page that README.md shows. */
const path = join(import.meta.dirname, '../docs/docs-page.png');
const viewport = { width: 1280, height: 900 };

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
  await openOperation(page, app.url, 'listPets');
  await page.getByLabel('API key').fill(key);
  await tryOperation(page);
  // A picture must not show a key, even of a deleted store.
  await page.getByLabel('API key').fill('as_dev');
  await page.evaluate(`{
    document.activeElement.blur();
    document.querySelector('#try').scrollIntoView();
  }`);
  await page.screenshot({ path });
} finally {
  for (const end of endings.reverse()) await end();
  await browser.close();
}
