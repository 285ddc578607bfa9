import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { examplePet, petFields, petInputs } from '../../src/pets/pet.ts';
import { startConsole } from '../operator/console-browser.ts';
import { describeInBrowser, expectAccessible, openVisit } from './chromium.ts';
import { openDesk } from './console.ts';

describeInBrowser('the console in a browser', (browser) => {
  test('the token of a link that signed in is neither in the URL nor in the history', async (t) => {
    const { page, complaints, requests } = await openDesk(t, browser());
    assert.equal(new URL(page.url()).hash, '#/');
    assert.equal(await page.evaluate('history.length'), 2);
    assert.deepEqual(complaints, []);
    assert.ok(requests.every((address) => !address.includes('sign-in=')));
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal(await page.evaluate('document.cookie'), '');
  });

  test('a visitor without a session sees how to get a link or that a link was used', async (t) => {
    const service = await startConsole(t);
    const { page } = await openVisit(t, browser());
    await page.goto(service.consoleUrl);
    await page.getByText('npx animal-store console').waitFor();
    const token = await service.makeLink();
    await service.exchange(token);
    await page.goto(`${service.consoleUrl}#sign-in=${token}`);
    assert.match((await page.getByRole('alert').textContent()) ?? '', /this link was used before/);
    await expectAccessible(page, 'sign-in');
  });

  test('an operator whose session was ended elsewhere must sign in again', async (t) => {
    const { page, sessions } = await openDesk(t, browser());
    await sessions.revokeAll();
    // Not by the link, which is gone if the overview has already found that the session has ended.
    await page.evaluate("location.hash = '#/orders'");
    await page.getByText('Your session has ended.').waitFor();
  });

  test('a sign-in in any tab leads to the wanted address, except after a sign-out', async (t) => {
    const { consoleUrl, makeLink } = await startConsole(t);
    const context = await browser().newContext();
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(`${consoleUrl}#/audit?actor=mira`);
    await page.getByText('npx animal-store console').waitFor();
    const other = await context.newPage();
    for (const [heading, hash] of Object.entries({ 'Audit log': '#/audit?actor=mira', Overview: '#/' })) {
      await other.goto(`${consoleUrl}#sign-in=${await makeLink()}`);
      await other.getByRole('heading', { name: heading }).waitFor();
      assert.equal(new URL(other.url()).hash, hash);
      await other.getByRole('button', { name: 'Sign out' }).click();
      await other.getByText('You are signed out.').waitFor();
    }
    await other.reload();
    await other.getByText('npx animal-store console').waitFor();
  });

  test('the dialog of an animal shows the error of an invalid or outdated change and keeps its fields', async (t) => {
    const { page, open, press, submit, see, dialog, store } = await openDesk(t, browser());
    const { id } = await store.catalogue.add({ name: 'Rex', categoryId: 1n });
    await open('animals', 'Animals');
    await page.getByLabel('Number').fill('1');
    await press('Open');
    await page.getByRole('heading', { name: 'Animal 1' }).waitFor();
    await press('Edit');
    for (const category of ['007', '99999999999999999999']) {
      await submit({ Category: category }, 'Save');
      assert.match((await dialog.getByRole('alert').textContent()) ?? '', /categoryId must be an integer/);
    }

    await store.catalogue.change(id, { name: 'Max' }, null);
    await submit({ Category: '2' }, 'Save');
    await see(/Somebody else has changed this animal .*: name is now "Max"\. Your entries/);
    assert.equal((await store.catalogue.get(id))?.name, 'Max');
    assert.equal(await dialog.getByLabel('Category').inputValue(), '2');
    await submit({}, 'Save');
    await see(`The animal ${id} is changed.`);
    assert.partialDeepStrictEqual(await store.catalogue.get(id), { name: 'Max', categoryId: 2n });
  });

  for (const { field, label, choices } of petInputs.filter(({ isRemovable }) => isRemovable))
    test(`an animal loses its ${label} when somebody empties the field`, async (t) => {
      const { open, act, store } = await openDesk(t, browser());
      const title = label.charAt(0).toUpperCase() + label.slice(1);
      const rex = await store.catalogue.add({ name: 'Rex', categoryId: 1n });
      await open('animals/1', 'Animal 1');
      const save = (value: string) => act('Edit', { [title]: value }, 'Save', 'is changed.');
      await save(String(examplePet[field]));
      assert.equal(String((await store.catalogue.get(rex.id))?.[field]), String(examplePet[field]));
      await save(choices === null ? '' : 'None');
      assert.deepEqual(await store.catalogue.get(rex.id), rex);
    });

  test('the overview shows the version, the uptime, the store and the instance', async (t) => {
    const { page, open, store, clock } = await openDesk(t, browser());
    await store.audit.record('store.backed_up', '-', { bytes: null });
    clock.advance(90_000);
    await open('', 'Overview');
    const fact = async (name: string) =>
      await page.getByText(name, { exact: true }).locator('..').locator('dd').textContent();
    assert.equal(await fact('Version'), manifest.version);
    assert.match((await fact('Size of the store')) ?? '', /^\d+\.\d MiB$/);
    assert.match((await fact('Free on its disk')) ?? '', /^\d+\.\d [MG]iB$/);
    assert.equal(await fact('Log'), 'level trace, failed and slow requests');
    await page.getByRole('heading', { name: '1 instance on this store' }).waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: `${manifest.version}, since 2027-01-02` })
      .waitFor();
  });

  test('the overview changes what the running instances log', async (t) => {
    const { page, open, act, store } = await openDesk(t, browser());
    await open('', 'Overview');
    const entries = { 'Lowest level': 'error', Requests: 'all' };
    const notice = 'Every running instance logs like this within 2 seconds.';
    await act('Change the log', entries, 'Change the log', notice);
    await page.getByText('level error, all requests').waitFor();
    const { items } = await store.audit.list({ limit: 1, newestId: null, action: 'log.changed' });
    assert.deepEqual(items[0]?.after, { level: 'error', requests: 'all' });
    const asSet = { 'Lowest level': 'as its settings say', Requests: 'as its settings say' };
    await act('Change the log', asSet, 'Change the log', notice);
    await page.getByText('level trace, failed and slow requests').waitFor();
  });

  test('the page of requests leads to the addresses of strangers', async (t) => {
    const { page, open, arrive, readRows, openFile, clock } = await openDesk(t, browser());
    openFile().exec(`insert into strangers values (${clock.now()}, '203.0.113.7', 1200)`);
    await open('requests', 'Failed requests');
    await page.getByRole('link', { name: 'Addresses without a valid key' }).click();
    await arrive('Requests without a valid key');
    assert.match((await readRows())[1] ?? '', /203\.0\.113\.7.*1,200.*2027-01-02 12:00/s);
  });

  test('the list of orders filters by account and by status', async (t) => {
    const { page, open, filter, readRows, see, store, createKey, send } = await openDesk(t, browser());
    for (const account of ['Happy Paws', 'Acme & Sons']) {
      const key = await createKey('pro', undefined, { account });
      const { id } = await store.catalogue.add({ name: 'Rex', categoryId: 1n });
      assert.equal((await send(key, 'POST /orders', { petId: Number(id) })).status, 201);
    }
    await store.closeOrder('cancel', 1n);
    await open('accounts/Acme%20%26%20Sons', 'Acme & Sons');
    await page.getByRole('link', { name: 'All orders' }).click();
    await page.getByRole('cell', { name: 'Acme & Sons' }).waitFor();
    assert.equal((await readRows()).length, 2);
    await filter({ Account: 'Happy Paws' });
    await page.getByRole('cell', { name: 'Happy Paws' }).waitFor();
    assert.equal((await readRows()).length, 2);
    await filter({ Account: 'Nobody' });
    await see('there is no account "Nobody"');
    await filter({ Account: '', Status: 'cancelled' });
    await page.getByRole('cell', { name: 'cancelled' }).waitFor();
    assert.equal((await readRows()).length, 2);
  });

  test('the pages of an animal show its name and that of its category as plain text', async (t) => {
    const { page, open, see, store, complaints } = await openDesk(t, browser());
    const name = '<img src=x onerror=alert(1)><script>alert(2)</script>';
    const { id } = await store.catalogue.add({ name, categoryId: 9223372036854775807n });
    await store.catalogue.add({ name: 'Max', categoryId: 2n });
    await store.putCategory({ id: 9223372036854775807n, name: 'Hounds & <b>dogs</b>' });
    await open('animals', 'Animals');
    await page.getByRole('cell', { name: '9223372036854775807 Hounds & <b>dogs</b>' }).waitFor();
    assert.equal(await page.getByRole('cell', { name: '2', exact: true }).count(), 2);
    await see(name);
    await open(`animals/${id}`, `Animal ${id}`);
    await see('Hounds & <b>dogs</b>');
    await see(name);
    assert.deepEqual(complaints, []);
  });

  test('a list has a next and a previous page, is sorted by a column and saved as CSV', async (t) => {
    const { page, open, store, importPets } = await openDesk(t, browser());
    await importPets(119);
    await store.catalogue.add({ name: '=1+1, "Rex"', categoryId: -3n });
    await open('animals', 'Animals');
    const first = () => page.getByRole('row').nth(1).getByRole('cell').first().textContent();
    const go = async (link: string, id: string) => {
      await page.getByRole('link', { name: link }).click();
      await page.getByRole('cell', { name: id, exact: true }).first().waitFor();
      return await first();
    };
    assert.equal(await go('Next page', '70'), '70');
    assert.equal(await go('Next page', '20'), '20');
    assert.equal(await page.getByRole('link', { name: 'Next page' }).count(), 0);
    assert.equal(await go('Previous page', '70'), '70');
    assert.equal(await go('Previous page', '120'), '120');
    assert.equal(await page.getByRole('link', { name: 'Previous page' }).count(), 0);
    await go('Next page', '70');
    assert.equal(await go('First page', '120'), '120');

    await page.getByRole('button', { name: 'Number' }).click();
    assert.equal(await first(), '71');
    const header = page.getByRole('columnheader', { name: 'Number' });
    assert.equal(await header.getAttribute('aria-sort'), 'ascending');
    await page.getByRole('button', { name: 'Number' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV of this page' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'animals.csv');
    const lines = (await readFile(await download.path(), 'utf8')).split('\r\n');
    assert.deepEqual([lines.length, lines[0]], [52, ['id', ...petFields, 'category'].join()]);
    assert.equal(lines[1], `120,"'=1+1, ""Rex""",-3,available,`);
  });

  test('a page shows an error message with a retry button if the service does not answer', async (t) => {
    const { page, open } = await openDesk(t, browser());
    await page.route('**/console/api/orders*', (route) => route.abort());
    await open('orders', 'Orders');
    await page.getByText(/^The service does not answer/).waitFor();
    await page.unroute('**/console/api/orders*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No order yet.').waitFor();
  });

  test('every action works by keyboard', async (t) => {
    const { page, open, store } = await openDesk(t, browser());
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
});
