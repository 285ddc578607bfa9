import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { findFreePort } from '../support/redis-server.ts';
import { startService } from '../support/service.ts';
import { launchBrowser, openVisit, skip } from './chromium.ts';
import { openOperation, tryOperation } from './reference.ts';

describe('the try-it form of the reference', { skip }, () => {
  let browser: Browser;
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser.close());

  test('adding and getting an animal shows every digit of an int64', async (t) => {
    const { app, createKey } = await startService(t);
    const { page } = await openVisit(t, browser);
    await openOperation(page, app.url, 'createPet');
    await page.getByLabel('API key').fill(await createKey());
    const added = await tryOperation(page, (form) =>
      form.getByLabel('Body').fill('{"name":"Rex","categoryId":9223372036854775807}'),
    );
    assert.equal(added.status, '201');
    assert.match(added.body ?? '', /\n {2}"categoryId": 9223372036854775807,\n/);

    // Another page of the same tab still has the key.
    await openOperation(page, app.url, 'getPet');
    const got = await tryOperation(page, (form) => form.getByLabel('petId').fill('1'));
    assert.equal(got.status, '200');
    assert.match(got.body ?? '', /"categoryId": 9223372036854775807,/);
  });

  test('a list request has only the parameters that were filled in', async (t) => {
    const { app, createKey } = await startService(t);
    const { page, requests } = await openVisit(t, browser);
    await openOperation(page, app.url, 'listPets');
    await page.getByLabel('API key').fill(await createKey());
    assert.equal((await tryOperation(page)).status, '200');
    assert.equal(requests.at(-1), `${app.url}/v1/pets`);
    await tryOperation(page, async (form) => {
      await form.getByLabel('categoryId').fill('-9223372036854775808');
      await form.getByLabel('status').selectOption('sold');
    });
    await page.waitForFunction(`document.querySelector('#try .answer pre').textContent === '[]'`);
    assert.equal(requests.at(-1), `${app.url}/v1/pets?status=sold&categoryId=-9223372036854775808`);
  });

  test('a key is masked, kept for its browser tab and not available in another tab', async (t) => {
    const { app, createKey } = await startService(t);
    const context = await browser.newContext();
    t.after(() => context.close());
    const page = await context.newPage();
    const key = await createKey();
    await openOperation(page, app.url, 'listPets');
    assert.equal(await page.getByLabel('API key').getAttribute('type'), 'password');
    await page.getByLabel('API key').fill(` Authorization: Bearer ${key} `);
    await openOperation(page, app.url, 'createPet');
    assert.equal(await page.getByLabel('API key').inputValue(), key);

    const other = await context.newPage();
    await openOperation(other, app.url, 'listPets');
    assert.equal(await other.getByLabel('API key').inputValue(), '');
    assert.equal(await page.evaluate('localStorage.length + document.cookie.length'), 0);
  });

  test('an error response shows the message of the service', async (t) => {
    const { app } = await startService(t);
    const { page } = await openVisit(t, browser);
    await openOperation(page, app.url, 'listPets');
    await page.getByLabel('API key').fill('as_dev_wrong');
    const answer = await tryOperation(page);
    assert.equal(answer.status, '401');
    assert.match(answer.body ?? '', /"code": "api_key_invalid"/);
  });

  test('what a browser cannot send unchanged is named, and nothing is sent', async (t) => {
    const { app, createKey } = await startService(t);
    const { page, requests } = await openVisit(t, browser);
    const key = await createKey();
    for (const [operation, id, value, message] of [
      ['listPets', 'try-key', 'as_dev_…', 'The key may have only letters, digits and _'],
      [
        'createPet',
        'try-header-Idempotency-Key',
        'order 猫',
        'Idempotency-Key has a character that a browser cannot send',
      ],
      ['createPet', 'try-header-Idempotency-Key', 'order ', 'Idempotency-Key begins or ends with a space'],
      ['createPet', 'try-body', '{"name":"\ud83d"}', 'Body has half of a character'],
      ['getPet', 'try-path-petId', '', 'petId is required.'],
      ['getPet', 'try-path-petId', '..', 'A browser takes .. in petId for a folder.'],
    ] as const) {
      await openOperation(page, app.url, operation);
      await page.getByLabel('API key').fill(key);
      const before = requests.length;
      // Playwright cannot type half of a character.
      await page.evaluate(`document.getElementById('${id}').value = ${JSON.stringify(value)}`);
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText(message).waitFor();
      assert.equal(requests.length, before, message);
    }
  });

  test('the samples and the example of the answer follow what is typed into the form', async (t) => {
    const { app, baseUrl } = await startService(t);
    const { page, complaints } = await openVisit(t, browser);
    const form = page.locator('#try');
    const read = (selector: string) => page.locator(selector).first().textContent();
    await openOperation(page, app.url, 'updatePet');
    await form.getByLabel('petId').fill('9223372036854775807');
    await form.getByLabel('If-Match').fill('"it\'s"');
    await form.getByLabel('Body').fill('{ "name": "O\'Hara <b>", "categoryId": 7 }');
    const curl = await read('[data-language="curl"] code');
    assert.ok(curl?.includes(`'${baseUrl}/pets/9223372036854775807'`), curl ?? '');
    assert.ok(curl?.includes(`-H 'If-Match: "it'\\''s"'`), curl ?? '');
    assert.ok(curl?.includes(`-d '{"name":"O'\\''Hara <b>","categoryId":7}'`), curl ?? '');
    const typeScript = await read('[data-language="TypeScript"] code');
    const call = `update(9223372036854775807n, { name: 'O\\'Hara <b>', categoryId: 7 }, { ifMatch: `;
    assert.ok(typeScript?.includes(call), typeScript ?? '');
    const python = await read('[data-language="Python"] code');
    assert.ok(python?.includes(`json.dumps({"name": "O'Hara <b>", "categoryId": 7})`), python ?? '');
    const answer = await read('#status-200 + label + .panel code');
    assert.deepEqual(JSON.parse(answer ?? ''), {
      id: Number('9223372036854775807'),
      name: "O'Hara <b>",
      categoryId: 7,
      status: 'sold',
    });

    await openOperation(page, app.url, 'listPets');
    await form.getByLabel('id', { exact: true }).fill('7,9');
    assert.ok((await read('[data-language="curl"] code'))?.includes('/pets?id=7%2C9'));
    assert.ok((await read('[data-language="TypeScript"] code'))?.includes('list({ id: [7, 9] })'));
    // What is not JSON leaves the samples as they are.
    await openOperation(page, app.url, 'placeOrder');
    await form.getByLabel('Body').fill('{ "petId": 9');
    assert.match((await read('[data-language="curl"] code')) ?? '', /-d '\{"petId":42\}'/);
    assert.deepEqual(complaints, []);
  });

  /** Starts a service with the public address `localhost`, so that a page on `127.0.0.1` has another origin. */
  async function startElsewhere(t: TestContext, allows: boolean) {
    const port = await findFreePort();
    const pageUrl = `http://127.0.0.1:${port}`;
    const publicUrl = `http://localhost:${port}/v1`;
    const settings = { PORT: String(port), PUBLIC_URL: publicUrl, CORS_ORIGINS: allows ? pageUrl : '' };
    return { pageUrl, publicUrl, ...(await startService(t, settings)) };
  }

  test('a request goes to the origin of PUBLIC_URL if it differs from the origin of the page, and the answer is shown', async (t) => {
    const { pageUrl, publicUrl, createKey } = await startElsewhere(t, true);
    const { page, requests } = await openVisit(t, browser);
    await openOperation(page, pageUrl, 'listPets');
    await page.getByLabel('API key').fill(await createKey());
    assert.equal((await tryOperation(page)).status, '200');
    assert.equal(requests.at(-1), `${publicUrl}/pets`);
  });

  test('a request that another origin refuses shows the setting that would allow it', async (t) => {
    const { pageUrl, createKey } = await startElsewhere(t, false);
    const { page } = await openVisit(t, browser);
    await openOperation(page, pageUrl, 'listPets');
    await page.getByLabel('API key').fill(await createKey());
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText(`must add ${pageUrl} to CORS_ORIGINS`).waitFor();
  });
});
