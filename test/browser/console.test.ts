import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { startConsole } from '../operator/console-browser.ts';
import { expectAccessible } from './accessible.ts';
import { launchBrowser, openVisit, skip } from './chromium.ts';
import { openDesk } from './console.ts';
import { actor } from './console-pages.ts';

describe('the console in a browser', { skip }, () => {
  let browser: Browser;
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser.close());

  test('a link signs in, and its token is neither in the URL nor in the history', async (t) => {
    const { page, complaints, requests } = await openDesk(t, browser);
    assert.equal(new URL(page.url()).hash, '#/');
    assert.equal(await page.evaluate('history.length'), 2);
    assert.deepEqual(complaints, []);
    assert.ok(requests.every((address) => !address.includes('sign-in=')));
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal(await page.evaluate('document.cookie'), '');
  });

  test('a visitor without a session sees how to get a link, and a used link shows that it was used', async (t) => {
    const service = await startConsole(t);
    const { page } = await openVisit(t, browser);
    await page.goto(service.consoleUrl);
    await page.getByText('npx animal-store console').waitFor();
    const token = await service.makeLink();
    await service.exchange(token);
    await page.goto(`${service.consoleUrl}#sign-in=${token}`);
    assert.match((await page.getByRole('alert').textContent()) ?? '', /this link was used before/);
    await expectAccessible(page, 'sign-in');
  });

  test('an operator must sign in again after a sign-out in this browser or elsewhere', async (t) => {
    const { page, sessions } = await openDesk(t, browser);
    await sessions.revokeAll();
    await page.getByRole('link', { name: 'Orders' }).click();
    await page.getByText('Your session has ended.').waitFor();
    const { page: again, open: openAgain } = await openDesk(t, browser);
    await openAgain('orders', 'Orders');
    await again.getByRole('button', { name: 'Sign out' }).click();
    await again.getByText('You are signed out.').waitFor();
    await again.reload();
    await again.getByText('npx animal-store console').waitFor();
  });

  test('an operator finds an animal by a part of its name, renames it and deletes it', async (t) => {
    const { page, open, store, importPets } = await openDesk(t, browser);
    await importPets(3);
    const { id } = await store.catalogue.add({ name: 'Happy Paw', categoryId: 9223372036854775807n });
    await open('animals', 'Animals');
    await page.getByLabel('Name contains').fill('PAW');
    await page.getByRole('button', { name: 'Show' }).click();
    await page
      .getByText('1 animal found. Searched the newest 4 animals with the chosen status and category.')
      .waitFor();
    await page.getByRole('link', { name: String(id), exact: true }).click();

    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Happy Paws');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(`The animal ${id} is changed.`).waitFor();
    assert.deepEqual(await store.catalogue.get(id), {
      id,
      name: 'Happy Paws',
      categoryId: 9223372036854775807n,
      status: 'available',
    });

    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: `Delete the animal ${id}?` });
    assert.match((await dialog.textContent()) ?? '', /Its name is Happy Paws/);
    await dialog.getByRole('button', { name: `Delete ${id}` }).click();
    await page.getByText(`The animal ${id} is deleted.`).waitFor();
    assert.equal(await store.catalogue.get(id), null);
  });

  test('an invalid or outdated change shows its error in the dialog, which keeps its fields', async (t) => {
    const { page, open, store } = await openDesk(t, browser);
    const { id } = await store.catalogue.add({ name: 'Rex', categoryId: 1n });
    await open(`animals/${id}`, `Animal ${id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Category').fill('99999999999999999999');
    await dialog.getByRole('button', { name: 'Save' }).click();
    assert.match((await dialog.getByRole('alert').textContent()) ?? '', /categoryId must be a whole number/);

    await dialog.getByLabel('Category').fill('2');
    await store.catalogue.change(id, { name: 'Max' }, null);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/the animal has changed; get it again/).waitFor();
    assert.equal((await store.catalogue.get(id))?.name, 'Max');
  });

  test('an operator cancels a reserved order and returns a completed order', async (t) => {
    const { page, open, store, createKey, request } = await openDesk(t, browser);
    const key = await createKey('pro', undefined, { account: 'Happy Paws' });
    const place = async (name: string) => {
      const { id: petId } = await store.catalogue.add({ name, categoryId: 1n });
      const body = JSON.stringify({ petId: Number(petId), holdSeconds: 86_400 });
      const headers = { 'content-type': 'application/json' };
      const order = await request(key, '/orders', { method: 'POST', headers, body });
      return (await order.json()) as { readonly id: number };
    };
    const [held, sold] = [await place('Rex'), await place('Max')];
    await request(key, `/orders/${sold.id}/complete`, { method: 'POST' });

    await open('orders', 'Orders');
    await page.getByRole('button', { name: `Cancel the order ${held.id}` }).click();
    const dialog = page.getByRole('dialog');
    assert.match((await dialog.textContent()) ?? '', /This is the order of Happy Paws for the animal/);
    await dialog.getByRole('button', { name: `Cancel order ${held.id}` }).click();
    await page.getByText(`The order ${held.id} is cancelled.`).waitFor();
    await page.getByRole('button', { name: `Return the order ${sold.id}` }).click();
    await page.getByRole('button', { name: `Return order ${sold.id}` }).click();
    await page.getByText(`The order ${sold.id} is returned.`).waitFor();

    await page.getByLabel('Status').selectOption('returned');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('cell', { name: 'cancelled' }).waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'returned' }).waitFor();
    assert.equal(await page.getByRole('row').count(), 2);
  });

  test('the orders of one account are listed from its page or by its name', async (t) => {
    const { page, open, store, createKey, request } = await openDesk(t, browser);
    const headers = { 'content-type': 'application/json' };
    for (const account of ['Happy Paws', 'Acme & Sons']) {
      const key = await createKey('pro', undefined, { account });
      const { id } = await store.catalogue.add({ name: 'Rex', categoryId: 1n });
      const body = JSON.stringify({ petId: Number(id) });
      assert.equal((await request(key, '/orders', { method: 'POST', headers, body })).status, 201);
    }
    await open('accounts/Acme%20%26%20Sons', 'Acme & Sons');
    await page.getByRole('link', { name: 'All orders' }).click();
    await page.getByRole('cell', { name: 'Acme & Sons' }).waitFor();
    assert.equal(await page.getByRole('row').count(), 2);
    await page.getByLabel('Account').fill('Happy Paws');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('cell', { name: 'Happy Paws' }).waitFor();
    assert.equal(await page.getByRole('row').count(), 2);
    await page.getByLabel('Account').fill('Nobody');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('there is no account "Nobody"').waitFor();
  });

  test('an operator names a category, renames it and removes the name', async (t) => {
    const { page, open, store } = await openDesk(t, browser);
    await open('categories', 'Category names');
    await page.getByText('No category has a name yet.').waitFor();
    await page.getByRole('button', { name: 'Name a category' }).click();
    await page.getByLabel('Number').fill('-9223372036854775808');
    await page.getByLabel('Name', { exact: true }).fill('Dogs');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'Dogs' }).waitFor();
    await page.getByRole('button', { name: /^Rename the category/ }).click();
    await page.getByLabel('Name', { exact: true }).fill('Hounds');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'Hounds' }).waitFor();
    assert.deepEqual((await store.categories.list(5, null)).categories, [
      { id: -9223372036854775808n, name: 'Hounds' },
    ]);
    await page.getByRole('button', { name: /^Remove the name/ }).click();
    await page.getByRole('button', { name: /^Remove the name of -/ }).click();
    await page.getByText('No category has a name yet.').waitFor();
  });

  test('the list and the page of an animal show the name of its category', async (t) => {
    const { page, open, store, complaints } = await openDesk(t, browser);
    const { id } = await store.catalogue.add({ name: 'Rex', categoryId: 9223372036854775807n });
    await store.catalogue.add({ name: 'Max', categoryId: 2n });
    await store.categories.put({ id: 9223372036854775807n, name: 'Hounds & <b>dogs</b>' }, actor);
    await open('animals', 'Animals');
    await page.getByRole('cell', { name: '9223372036854775807 Hounds & <b>dogs</b>' }).waitFor();
    assert.equal(await page.getByRole('cell', { name: '2', exact: true }).count(), 2);
    await open(`animals/${id}`, `Animal ${id}`);
    await page.getByText('Hounds & <b>dogs</b>').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('a list has a next page and a way back', async (t) => {
    const { page, open, importPets } = await openDesk(t, browser);
    await importPets(60);
    await open('animals', 'Animals');
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByRole('link', { name: 'First page' }).waitFor();
    assert.equal(await page.getByRole('row').count(), 11);
    await page.goBack();
    await page.getByRole('link', { name: 'Next page' }).waitFor();
    assert.equal(await page.getByRole('row').count(), 51);
  });

  test('a page shows an error message with a retry button if the service does not answer', async (t) => {
    const { page, open } = await openDesk(t, browser);
    await page.route('**/console/api/orders*', (route) => route.abort());
    await open('orders', 'Orders');
    await page.getByText(/^The service does not answer/).waitFor();
    await page.unroute('**/console/api/orders*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No order on this page matches.').waitFor();
  });

  test('every action works by keyboard', async (t) => {
    const { page, open, store } = await openDesk(t, browser);
    const { id } = await store.catalogue.add({ name: 'Rex', categoryId: 1n });
    await open(`animals/${id}`, `Animal ${id}`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    // The close event of one dialog and the opening of the next may coincide.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Name').fill('Max');
    await page.keyboard.press('Enter');
    await page.getByText(`The animal ${id} is changed.`).waitFor();
    assert.equal((await store.catalogue.get(id))?.name, 'Max');
  });

  test('the name of an animal is never interpreted as HTML', async (t) => {
    const { page, open, store, complaints } = await openDesk(t, browser);
    const name = '<img src=x onerror=alert(1)><script>alert(2)</script>';
    const { id } = await store.catalogue.add({ name, categoryId: 1n });
    await open('animals', 'Animals');
    await page.getByText(name).waitFor();
    await open(`animals/${id}`, `Animal ${id}`);
    await page.getByText(name).waitFor();
    assert.deepEqual(complaints, []);
  });
});
