import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { operations } from '../../src/http/api/operations.ts';
import { guides } from '../../src/http/docs-site/guides.ts';
import { nameOperation } from '../../src/http/operation.ts';
import { untilRendered } from '../support/documentation.ts';
import { startService } from '../support/service.ts';
import { describeInBrowser, expectAccessible, openVisit } from './chromium.ts';
import { openOperation } from './reference.ts';

const firstVisitBytesMax = 150_000;

const sizes = {
  screen: { width: 1440, height: 900 },
  tablet: { width: 820, height: 1180 },
  phone: { width: 390, height: 844 },
  narrow: { width: 320, height: 568 },
};

const paths = [
  '',
  '/reference/headers',
  '/reference/event-types',
  ...operations.map((operation) => `/reference/${nameOperation(operation)}`),
  ...guides.map(({ name }) => `/${name}`),
];

/** The background colour of a page in each colour scheme. */
const backgrounds = { light: 'rgb(255, 255, 255)', dark: 'rgb(17, 19, 22)' };

/** One page of each kind, because axe-core takes a second or more for each page. */
const judged = /^(?:|\/reference\/(?:headers|create-pet|list-events)|\/errors|\/client)$/;

const { app } = await startService({ after });
await untilRendered(app.url);

describeInBrowser('the documentation in a browser', (browser) => {
  test('the first visit takes three requests besides the icon with less than 150 KB gzipped', async (t) => {
    const { page, requests, complaints } = await openVisit(t, browser());
    const bodies: Promise<Buffer>[] = [];
    page.on('response', (response) => bodies.push(response.body()));
    await page.goto(`${app.url}/docs`);
    await page.waitForLoadState('networkidle');
    assert.equal(requests.length, 3, requests.join('\n'));
    assert.ok(requests.every((address) => address.startsWith(`${app.url}/`)));
    const bytes = (await Promise.all(bodies)).reduce((sum, body) => sum + gzipSync(body).length, 0);
    assert.ok(bytes > 5_000 && bytes < firstVisitBytesMax, `${bytes} bytes`);
    assert.deepEqual(complaints, []);
  });

  test('the search finds an error code by keyboard alone with two requests', async (t) => {
    const { page, requests, complaints } = await openVisit(t, browser());
    await openOperation(page, app.url, 'createPet');
    const before = requests.length;
    await page.keyboard.press('/');
    await page.getByText('Type to search').waitFor();
    await page.keyboard.type('idempotency_key_re');
    await page.getByRole('option').first().waitFor();
    assert.equal(requests.length - before, 2);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/errors#idempotency_key_reused');
    assert.equal(await page.locator(':target').textContent(), 'idempotency_key_reused');
    assert.deepEqual(complaints, []);
  });

  test('the search opens with Ctrl and K, also from an input, and marks the match', async (t) => {
    const { page } = await openVisit(t, browser());
    await openOperation(page, app.url, 'createPet');
    await page.getByLabel('API key').focus();
    await page.keyboard.press('Control+k');
    await page.getByText('Type to search').waitFor();
    await page.keyboard.type('urlopen');
    await page.locator('mark').getByText('urlopen').first().waitFor();
  });

  test('the search finds operations, fields and guides or says that nothing matches', async (t) => {
    const { page } = await openVisit(t, browser(), { viewport: sizes.phone, colorScheme: 'dark' });
    await page.goto(`${app.url}/docs`);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('Type to search').waitFor();
    const box = page.getByRole('combobox', { name: 'Search' });
    for (const [text, address] of [
      ['place an order', 'reference/place-order'],
      ['holdSeconds', 'reference/place-order#body.holdSeconds'],
      ['choose a key', 'idempotency#choose-a-key'],
      ['holdSecnods', 'reference/place-order#body.holdSeconds'],
      ['paginatoin', 'pages'],
    ] as const) {
      await box.fill(text);
      const option = page.getByRole('option').first();
      await option.waitFor();
      assert.equal(await option.getAttribute('data-address'), address);
    }
    await expectAccessible(page, 'the open search');
    await box.fill('no such thing at all');
    await page.getByText('Nothing found.').waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await page.getByRole('dialog').count(), 0);
  });

  test('a reader chooses dark colours, which other pages keep', async (t) => {
    const { page } = await openVisit(t, browser(), { colorScheme: 'light' });
    await page.goto(`${app.url}/docs/errors`);
    await page.getByRole('button', { name: 'Use dark colours' }).click();
    const readBackground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    assert.equal(await readBackground(), backgrounds.dark);
    await page.getByRole('link', { name: '→' }).click();
    await page.waitForURL('**/docs/deprecations');
    assert.equal(await readBackground(), backgrounds.dark);
    await page.getByRole('button', { name: 'Use light colours' }).click();
    assert.equal(await readBackground(), backgrounds.light);
  });

  test('buttons copy coloured code unchanged and the whole page as Markdown', async (t) => {
    const { page } = await openVisit(t, browser(), { permissions: ['clipboard-read', 'clipboard-write'] });
    await openOperation(page, app.url, 'placeOrder');
    const copy = async (button: string) => {
      await page.getByRole('button', { name: button }).click();
      await page.getByText('Copied', { exact: true }).first().waitFor();
      return String(await page.evaluate('navigator.clipboard.readText()'));
    };
    const curl = await page.locator('pre[data-language="curl"] code').textContent();
    assert.equal(await copy('Copy the curl'), curl);
    const displays = `[...document.querySelectorAll('code i')].map((word) => getComputedStyle(word).display)`;
    const moved = await page.evaluate(`${displays}.filter((display) => display !== 'inline').length`);
    assert.equal(moved, 0, 'a coloured word stays in its line');
    await page.reload();
    assert.match(await copy('Copy page'), /^# Place an order\n\n`POST \/orders`/);
  });

  test('the language of code samples is chosen by keyboard and kept on other pages', async (t) => {
    const { page } = await openVisit(t, browser());
    await openOperation(page, app.url, 'listPets');
    await page.getByRole('radio', { name: 'curl' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.locator('pre[data-language="TypeScript"]').waitFor({ state: 'visible' });
    await openOperation(page, app.url, 'createPet');
    assert.ok(await page.locator('pre[data-language="TypeScript"]').isVisible());
    assert.ok(!(await page.locator('pre[data-language="curl"]').isVisible()));
  });

  test('the reference works without JavaScript', async (t) => {
    const { page } = await openVisit(t, browser(), { javaScriptEnabled: false, viewport: sizes.phone });
    await openOperation(page, app.url, 'listPets');
    await page.getByText('Python', { exact: true }).click();
    assert.ok(await page.locator('pre[data-language="Python"]').isVisible());
    assert.ok(await page.locator('[id="query.limit"]').isVisible());
    assert.ok(!(await page.locator('#try').isVisible()));
    assert.ok(!(await page.getByRole('button').first().isVisible()));
    await page.getByRole('link', { name: 'Menu', exact: true }).click();
    await page.getByRole('link', { name: 'Close the menu' }).waitFor({ state: 'visible' });
    await page.getByRole('link', { name: 'Quickstart' }).click();
    await page.waitForURL('**/docs/getting-started');
  });

  test('a printed page has only the text, without navigation and controls', async (t) => {
    const { page } = await openVisit(t, browser());
    await openOperation(page, app.url, 'createPet');
    await page.emulateMedia({ media: 'print' });
    for (const gone of ['body > header', '#navigation', '#try', '.copied > button'])
      assert.ok(!(await page.locator(gone).first().isVisible()), gone);
    assert.ok(await page.locator('[id="body.categoryId"]').isVisible());
  });

  test('every page is accessible in every window size and color scheme', async (t) => {
    const { page, complaints } = await openVisit(t, browser());
    for (const path of paths) {
      await page.goto(`${app.url}/docs${path}`);
      for (const [scheme, background] of Object.entries(backgrounds)) {
        await page.emulateMedia({ colorScheme: scheme as keyof typeof backgrounds });
        const shown = await page.evaluate('getComputedStyle(document.body).backgroundColor');
        assert.equal(shown, background, path);
      }
      for (const [size, viewport] of Object.entries(sizes)) {
        await page.setViewportSize(viewport);
        const width = await page.evaluate('document.documentElement.scrollWidth');
        assert.equal(width, viewport.width, `${path} is wider than a ${size}`);
      }
      if (!judged.test(path)) continue;
      await page.emulateMedia({ colorScheme: 'dark' });
      await expectAccessible(page, `${path}, narrow and dark`);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize(sizes.screen);
      await expectAccessible(page, `${path}, wide and light`);
    }
    assert.deepEqual(complaints, []);
  });
});
