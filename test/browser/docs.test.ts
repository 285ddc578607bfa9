import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { guides } from '../../src/http/docs-site/guides.ts';
import { findFreePort } from '../support/redis-server.ts';
import { startService } from '../support/service.ts';
import { launchBrowser, openVisit, skip } from './chromium.ts';
import { openReference, tryOperation } from './reference.ts';

const phone = { width: 390, height: 844 };

const asItIs = async () => {};

describe('the documentation in a browser', { skip }, () => {
  let browser: Browser;
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser.close());

  test('an animal that is added and got in the try-it shows every digit of an int64', async (t) => {
    const { app, createKey } = await startService(t);
    const { page } = await openVisit(t, browser);
    await openReference(page, app.url);
    await page.getByLabel('API key').fill(await createKey());

    const added = await tryOperation(page, 'createPet', (operation) =>
      operation.locator('textarea').fill('{"name":"Rex","categoryId":9223372036854775807}'),
    );
    assert.equal(added.status, '201');
    assert.match(added.body ?? '', /"categoryId": 9223372036854775807,/);

    const got = await tryOperation(page, 'getPet', (operation) =>
      operation.getByPlaceholder('petId').fill('1'),
    );
    assert.equal(got.status, '200');
    assert.match(got.body ?? '', /"categoryId": 9223372036854775807,/);
  });

  test('a list is got at the first try, with nothing sent that was not typed in', async (t) => {
    const { app, createKey, post } = await startService(t);
    const key = await createKey();
    await post(key, `{"name":"Rex","categoryId":-9223372036854775808}`);
    const { page, requests } = await openVisit(t, browser);
    await openReference(page, app.url);
    await page.getByLabel('API key').fill(key);

    const listed = await tryOperation(page, 'listPets', asItIs);
    assert.equal(listed.status, '200');
    assert.match(listed.body ?? '', /"categoryId": -9223372036854775808,/);
    assert.equal(requests.at(-1), `${app.url}/v1/pets?limit=20`);
  });

  test('a wrong key in the try-it is told in the words of the service', async (t) => {
    const { app } = await startService(t);
    const { page } = await openVisit(t, browser);
    await openReference(page, app.url);
    await page.getByLabel('API key').fill('as_dev_wrong');
    const answer = await tryOperation(page, 'listPets', asItIs);
    assert.equal(answer.status, '401');
    assert.match(answer.body ?? '', /"code": "api_key_invalid"/);
  });

  test('a key that no header can bear, as the guides print it, is told beside its field and not sent', async (t) => {
    const { app, createKey } = await startService(t);
    const { page, complaints } = await openVisit(t, browser);
    await openReference(page, app.url);
    await page.getByLabel('API key').fill('as_dev_…');
    assert.match(
      (await page.getByRole('alert').textContent()) ?? '',
      /^A key has letters, digits and _ only/,
    );
    const answer = await tryOperation(page, 'listPets', asItIs);
    assert.equal(answer.status, '401');
    assert.match(answer.body ?? '', /"code": "api_key_missing"/);
    assert.ok(!complaints.some((complaint) => complaint.includes('ISO-8859-1')));

    await page.getByLabel('API key').fill(await createKey());
    assert.equal(await page.getByRole('alert').textContent(), '');
  });

  test('a key is taken with the words that stand before it in a header', async (t) => {
    const { app, createKey } = await startService(t);
    const { page } = await openVisit(t, browser);
    await openReference(page, app.url);
    await page.getByLabel('API key').fill(` Authorization: Bearer ${await createKey()} `);
    assert.equal((await tryOperation(page, 'listPets', asItIs)).status, '200');
  });

  test('each parameter shows its bounds and, where it may change, its mark', async (t) => {
    const { app } = await startService(t);
    const { page } = await openVisit(t, browser);
    await openReference(page, app.url);
    await page.locator('[id$="-listPets"] .opblock-summary-control').click();
    const tell = async (name: string) => await page.locator(`tr[data-param-name="${name}"]`).textContent();
    await page.locator('tr[data-param-name="limit"]').waitFor();
    const limit = (await tell('limit')) ?? '';
    assert.match(limit, /minimum: 1(?!\d)/);
    assert.match(limit, /maximum: 100(?!\d)/);
    for (const name of ['cursor', 'Prefer', 'If-None-Match'])
      assert.match((await tell(name)) ?? '', /x-stability: beta/, name);
    for (const name of ['limit', 'status']) assert.doesNotMatch((await tell(name)) ?? '', /beta/, name);
  });

  /** A service that clients see as `localhost`, so that a page of `127.0.0.1` is of another origin. */
  async function startElsewhere(t: TestContext, allows: boolean) {
    const port = await findFreePort();
    const pageUrl = `http://127.0.0.1:${port}`;
    const publicUrl = `http://localhost:${port}/v1`;
    const settings = { PORT: String(port), PUBLIC_URL: publicUrl, CORS_ORIGINS: allows ? pageUrl : '' };
    return { pageUrl, publicUrl, ...(await startService(t, settings)) };
  }

  test('the try-it calls PUBLIC_URL where it is of another origin, and shows what it answers', async (t) => {
    const { pageUrl, publicUrl, createKey } = await startElsewhere(t, true);
    const { page, requests } = await openVisit(t, browser);
    await openReference(page, pageUrl);
    await page.getByLabel('API key').fill(await createKey());
    const listed = await tryOperation(page, 'listPets', asItIs);
    assert.equal(listed.status, '200');
    assert.equal(requests.at(-1), `${publicUrl}/pets?limit=20`);
  });

  test('a page of another origin than PUBLIC_URL says what the try-it needs', async (t) => {
    const { pageUrl, publicUrl, createKey } = await startElsewhere(t, false);
    const { page } = await openVisit(t, browser);
    await openReference(page, pageUrl);
    const note = page.locator('.note');
    assert.match((await note.textContent()) ?? '', new RegExp(`only if CORS_ORIGINS has ${pageUrl} there`));
    assert.equal(await note.locator('a').getAttribute('href'), publicUrl.replace('/v1', '/docs'));

    await page.getByLabel('API key').fill(await createKey());
    const operation = page.locator('[id$="-listPets"]');
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('.execute').click();
    await operation.locator('.live-responses-table').getByText('Failed to fetch').waitFor();
  });

  test('a page of the same origin as PUBLIC_URL has nothing to say of that', async (t) => {
    const { app } = await startService(t);
    const { page } = await openVisit(t, browser);
    await openReference(page, app.url);
    assert.equal(await page.locator('.note').count(), 0);
  });

  test('a visit takes four requests, all of them to the service, and breaks no rule of the page', async (t) => {
    const { app } = await startService(t);
    const { page, requests, complaints } = await openVisit(t, browser);
    await openReference(page, app.url);
    await page.locator('.models-control').click();
    await page.waitForLoadState('networkidle');
    assert.equal(requests.length, 4, requests.join('\n'));
    assert.deepEqual(
      requests.filter((address) => !address.startsWith(`${app.url}/`)),
      [],
    );
    assert.deepEqual(complaints, []);
  });

  test('a bound of int64 is nowhere shown rounded', async (t) => {
    const { app } = await startService(t);
    const { page } = await openVisit(t, browser);
    await openReference(page, app.url);
    for (const operation of await page.locator('.opblock-summary-control').all()) await operation.click();
    for (const tab of await page.getByRole('tab', { name: 'Schema' }).all()) await tab.click();
    assert.doesNotMatch((await page.locator('#reference').textContent()) ?? '', /9223372036854776000/);
  });

  test('the code of a failure leads to its place in the guide', async (t) => {
    const { app } = await startService(t);
    const { page } = await openVisit(t, browser);
    await openReference(page, app.url);
    const operation = page.locator('[id$="-createPet"]');
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('link', { name: 'idempotency_key_reused' }).click();
    await page.waitForURL('**/docs/errors#idempotency_key_reused');
    assert.equal(await page.locator(':target').textContent(), 'idempotency_key_reused');
  });

  for (const [name, viewport] of [
    ['screen', { width: 1280, height: 900 }],
    ['phone', phone],
    ['narrow', { width: 320, height: 568 }],
  ] as const)
    for (const colorScheme of ['light', 'dark'] as const)
      test(`every page fits a ${name} and is ${colorScheme} where the system is`, async (t) => {
        const { app } = await startService(t);
        const { page, complaints, takePicture } = await openVisit(t, browser, { viewport, colorScheme });

        async function checkPage(picture: string): Promise<void> {
          await takePicture(`${picture}-${name}-${colorScheme}`);
          const width = await page.evaluate('document.documentElement.scrollWidth');
          assert.equal(width, viewport.width, `${picture} is wider than the window`);
          const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
          assert.equal(ground, colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(17, 19, 22)');
        }

        await openReference(page, app.url);
        await checkPage('reference');
        for (const operation of await page.locator('.opblock-summary-control').all()) await operation.click();
        await checkPage('operations');
        for (const guide of guides) {
          await page.goto(`${app.url}/docs/${guide.name}`);
          await checkPage(guide.name);
        }
        assert.deepEqual(complaints, []);
      });
});
