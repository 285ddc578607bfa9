/** Makes the pictures of the reference page that README.md shows. */
import { openVisit } from '../test/browser/chromium.ts';
import { openOperation, tryOperation } from '../test/browser/reference.ts';
import { startService } from '../test/support/service.ts';
import { takePictures, withBrowser } from './take-pictures.ts';

const viewport = { width: 1280, height: 900 };

await withBrowser(async ({ browser, test }) => {
  const { app, createKey, post } = await startService(test, { ENVIRONMENT: 'development' });
  const key = await createKey('pro');
  await post(key, '{"name":"Rex","categoryId":1}');
  await post(key, '{"name":"Élodie","categoryId":9223372036854775807,"status":"pending"}');
  const { page } = await openVisit(test, browser, { viewport });
  await takePictures(page, 'reference', async () => {
    await openOperation(page, app.url, 'listPets');
    await page.getByLabel('API key').fill(key);
    await tryOperation(page);
    // A picture must not show a key, even of a deleted store.
    await page.getByLabel('API key').fill('as_dev');
    await page.evaluate(`{
      document.activeElement.blur();
      document.querySelector('#try').scrollIntoView();
    }`);
  });
});
