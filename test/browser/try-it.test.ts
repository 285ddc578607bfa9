import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operations } from '../../src/http/api/operations.ts';
import { untilRendered } from '../support/documentation.ts';
import { findFreePort } from '../support/redis-server.ts';
import { startService } from '../support/service.ts';
import { describeInBrowser, openVisit } from './chromium.ts';
import { openOperation, tryOperation } from './reference.ts';

const port = await findFreePort();
/** The address in PUBLIC_URL, and two other names of this machine. The service allows calls from one of them. */
const homeUrl = `http://localhost:${port}`;
const listedUrl = `http://127.0.0.1:${port}`;
const unlistedUrl = `http://other.localhost:${port}`;

const settings = { PORT: String(port), PUBLIC_URL: `${homeUrl}/v1`, CORS_ORIGINS: listedUrl };
const { createKey } = await startService({ after }, settings);
const key = await createKey();
await untilRendered(listedUrl);

describeInBrowser('the try-it form of the reference', (browser) => {
  test('adding and getting an animal shows every digit of an int64', async (t) => {
    const { page } = await openVisit(t, browser());
    await openOperation(page, homeUrl, 'createPet', key);
    const added = await tryOperation(page, (form) =>
      form.getByLabel('Body').fill('{"name":"Rex","categoryId":9223372036854775807}'),
    );
    assert.equal(added.status, '201');
    assert.match(added.body ?? '', /\n {2}"categoryId": 9223372036854775807,\n/);

    // Another page of the same tab still has the key.
    await openOperation(page, homeUrl, 'getPet');
    const got = await tryOperation(page, (form) => form.getByLabel('petId').fill('1'));
    assert.equal(got.status, '200');
    assert.match(got.body ?? '', /"categoryId": 9223372036854775807,/);
  });

  test('an error shows the answer of the service', async (t) => {
    const { page } = await openVisit(t, browser());
    await openOperation(page, homeUrl, 'listPets', 'as_dev_wrong');
    const refused = await tryOperation(page);
    assert.equal(refused.status, '401');
    assert.match(refused.body ?? '', /"code": "api_key_invalid"/);
  });

  test('a list request has only the parameters that were filled in', async (t) => {
    const { page, requests } = await openVisit(t, browser());
    await openOperation(page, homeUrl, 'listPets', key);
    assert.equal((await tryOperation(page)).status, '200');
    assert.equal(requests.at(-1), `${homeUrl}/v1/pets`);
    await tryOperation(page, async (form) => {
      await form.getByLabel('categoryId').fill('-9223372036854775808');
      await form.getByLabel('status').selectOption('sold');
    });
    await page.waitForFunction(`document.querySelector('#try .answer pre').textContent === '[]'`);
    assert.equal(requests.at(-1), `${homeUrl}/v1/pets?status=sold&categoryId=-9223372036854775808`);
  });

  test('a key is masked, kept for its browser tab and not available in another tab', async (t) => {
    const context = await browser().newContext();
    t.after(() => context.close());
    const page = await context.newPage();
    await openOperation(page, homeUrl, 'listPets');
    assert.equal(await page.getByLabel('API key').getAttribute('type'), 'password');
    await page.getByLabel('API key').fill(` Authorization: Bearer ${key} `);
    await openOperation(page, homeUrl, 'createPet');
    assert.equal(await page.getByLabel('API key').inputValue(), key);

    const other = await context.newPage();
    await openOperation(other, homeUrl, 'listPets');
    assert.equal(await other.getByLabel('API key').inputValue(), '');
    assert.equal(await page.evaluate('localStorage.length + document.cookie.length'), 0);
  });

  test('what a browser cannot send unchanged is named instead of sent', async (t) => {
    const { page, requests } = await openVisit(t, browser());
    const header = 'try-header-Idempotency-Key';
    for (const [operation, id, value, message] of [
      ['listPets', 'try-key', 'as_dev_…', 'The key may have only letters, digits and _'],
      ['createPet', header, 'order 猫', 'Idempotency-Key has a character that a browser cannot send'],
      ['createPet', header, 'order ', 'Idempotency-Key begins or ends with a space'],
      ['createPet', 'try-body', '{"name":"\ud83d"}', 'Body has half of a character'],
      ['getPet', 'try-path-petId', '', 'petId is required.'],
      ['getPet', 'try-path-petId', '..', 'A browser takes .. in petId for a folder.'],
    ] as const) {
      await openOperation(page, homeUrl, operation, key);
      const before = requests.length;
      // Playwright cannot type half of a character.
      await page.evaluate(`document.getElementById('${id}').value = ${JSON.stringify(value)}`);
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText(message).waitFor();
      assert.equal(requests.length, before, message);
    }
  });

  test('the ids of a form are empty', async (t) => {
    const { page } = await openVisit(t, browser());
    for (const operation of operations.filter(({ params }) => params !== undefined)) {
      await openOperation(page, homeUrl, operation.id);
      assert.equal(await page.locator('#try [data-place="path"]').inputValue(), '', operation.id);
    }
  });

  test('a deletion asks first and names the animal', async (t) => {
    const { page, requests } = await openVisit(t, browser());
    const questions: string[] = [];
    page.once('dialog', (dialog) => {
      questions.push(dialog.message());
      return dialog.dismiss();
    });
    await openOperation(page, homeUrl, 'deletePet', key);
    const before = requests.length;
    await page.locator('#try form').getByLabel('petId').fill('404');
    await page.getByRole('button', { name: 'Send' }).click();
    assert.deepEqual(questions, [`Delete an animal?\npetId: 404\nat localhost:${port}`]);
    assert.equal(requests.length, before);
    page.once('dialog', (dialog) => dialog.accept());
    assert.equal((await tryOperation(page)).status, '403');
  });

  test('the response has the focus, is in sight and is announced', async (t) => {
    const { page } = await openVisit(t, browser(), { viewport: { width: 390, height: 844 } });
    await openOperation(page, homeUrl, 'listPets', key);
    await tryOperation(page);
    await page.locator('#try [role="status"]').getByText('Response: 200 OK').waitFor();
    const region = page.getByRole('region', { name: 'Response', exact: true });
    await page.waitForFunction(`document.activeElement.className === 'answer'`);
    const { y = 844 } = (await region.boundingBox()) ?? {};
    assert.ok(y < 844, `it begins at ${y}`);
  });

  test('the samples and the example of the response follow what is typed into the form', async (t) => {
    const { page, complaints } = await openVisit(t, browser());
    const form = page.locator('#try');
    const read = (selector: string) => page.locator(selector).first().textContent();
    await openOperation(page, homeUrl, 'updatePet');
    await form.getByLabel('petId').fill('9223372036854775807');
    await form.getByLabel('If-Match').fill('"it\'s"');
    await form.getByLabel('Body').fill('{ "name": "O\'Hara <b>", "categoryId": 7 }');
    const curl = await read('[data-language="curl"] code');
    assert.ok(curl?.includes(`'${homeUrl}/v1/pets/9223372036854775807'`), curl ?? '');
    assert.ok(curl?.includes(`-H 'If-Match: "it'\\''s"'`), curl ?? '');
    assert.ok(curl?.includes(`-d '{\n  "name": "O'\\''Hara <b>",\n  "categoryId": 7\n}'`), curl ?? '');
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

    await openOperation(page, homeUrl, 'listPets');
    await form.getByLabel('id', { exact: true }).fill('7,9');
    assert.ok((await read('[data-language="curl"] code'))?.includes('/pets?id=7%2C9'));
    assert.ok((await read('[data-language="TypeScript"] code'))?.includes('list({ id: [7, 9] })'));
    // What is not JSON leaves the samples as they are.
    await openOperation(page, homeUrl, 'placeOrder');
    await form.getByLabel('Body').fill('{ "petId": 9');
    assert.match((await read('[data-language="curl"] code')) ?? '', /-d '\{\n {2}"petId": 42,/);
    assert.deepEqual(complaints, []);
  });

  test('a request goes to the origin of PUBLIC_URL, or the page names the missing setting', async (t) => {
    const { page, requests } = await openVisit(t, browser());
    await openOperation(page, listedUrl, 'listPets', key);
    assert.equal((await tryOperation(page)).status, '200');
    assert.equal(requests.at(-1), `${homeUrl}/v1/pets`);
    await openOperation(page, unlistedUrl, 'listPets', key);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText(`must add ${unlistedUrl} to CORS_ORIGINS`).waitFor();
  });
});
