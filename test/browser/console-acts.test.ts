import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldOf } from '../accounts/world.ts';
import { storeWebhooks } from '../support/stored-webhooks.ts';
import { describeInBrowser } from './chromium.ts';
import { openDesk } from './console.ts';

const hook = 'wh_8tKq2ZmX0aLr5VnC';
const offHook = 'wh_9tKq2ZmX0aLr5VnC';

describeInBrowser('the acts of the console', (browser) => {
  test('each act in a dialog reports its result and is in the audit log with its author', async (t) => {
    const desk = await openDesk(t, browser());
    const { page, act, dialog, open, readRows, see, createKey, store, request, send, openFile } = desk;
    const key = await createKey('pro', undefined, { account: 'Hapy Paws' });
    for (const petId of [1, 2]) {
      await store.catalogue.add({ name: `n${petId}`, categoryId: 1n });
      assert.equal((await send(key, 'POST /orders', { petId, holdSeconds: 86_400 })).status, 201);
    }
    await request(key, '/orders/2/complete', { method: 'POST' });
    const file = openFile();
    storeWebhooks(file, [{ id: hook }, { id: offHook, status: 'disabled' }]);
    file.exec(`insert into key_bans select id, 2e12, 0, 60000, '', 2e12 from api_keys`);
    file.exec('delete from audit');

    await open('accounts/Hapy%20Paws', 'Hapy Paws');
    await act('Change the plan', { Plan: 'business' }, 'Save', 'The new limits apply within 2 seconds');
    await act('Rename', { 'New name': 'Happy Paws' }, 'Save', 'The account is renamed to Happy Paws.');
    await act('Suspend', {}, 'Suspend Happy Paws', 'Happy Paws is suspended.');
    await see(/^suspended since/);
    await act('Resume', {}, 'Resume Happy Paws', 'Happy Paws is resumed.');
    await act(/^Lift the ban/, {}, /^Lift the ban/, 'is lifted.');
    const [account] = await store.accounts.list();
    assert.deepEqual([account?.account, account?.plan], ['Happy Paws', 'business']);

    await open('animals', 'Animals');
    const far = '9223372036854775807';
    await act('Add an animal', { Name: 'Rex', Category: far }, 'Add the animal', 'The animal 3 is added.');
    await open('animals/3', 'Animal 3');
    await act('Edit', { Name: 'Max', Status: 'pending' }, 'Save', 'The animal 3 is changed.');
    const max = { id: 3n, name: 'Max', categoryId: BigInt(far), status: 'pending' };
    assert.deepEqual(await store.catalogue.get(3n), max);
    await act('Delete', {}, 'Delete 3', 'The animal 3 is deleted.', /Its name is Max/);
    assert.equal(await store.catalogue.get(3n), null);

    await open('categories', 'Category names');
    await see('No category has a name yet.');
    const least = '-9223372036854775808';
    const named = { Number: least, Name: 'Dogs' };
    await act('Name a category', named, 'Save', `The category ${least} is named Dogs.`);
    await act(/^Rename/, { Name: 'Hounds' }, 'Save', `The category ${least} is named Hounds.`);
    assert.deepEqual((await store.categories.list(5, null)).items, [{ id: BigInt(least), name: 'Hounds' }]);
    await act(/^Remove/, {}, /^Remove/, `The name of the category ${least} is removed.`);

    await open('orders', 'Orders');
    const ofOrder = /the order of Happy Paws for the animal 1/;
    await act('Cancel the order 1', {}, 'Cancel order 1', 'The order 1 is cancelled.', ofOrder);
    await act('Return the order 2', {}, 'Return order 2', 'The order 2 is returned.');

    await open('webhooks', 'Webhooks');
    const ofHook = /the webhook of Happy Paws to https:\/\/zoo\.example\/hook/;
    await act(`Disable ${hook}`, {}, `Disable ${hook}`, `${hook} is disabled.`, ofHook);
    await act(`Enable ${offHook}`, {}, `Enable ${offHook}`, `${offHook} is enabled.`);
    await act(`Replay ${offHook}`, { Send: 'now' }, `Replay ${offHook}`, 'has its new position.');
    const webhooks = file.prepare('select status from webhooks order by id').all();
    assert.deepEqual(fieldOf(webhooks, 'status'), ['disabled', 'enabled']);
    assert.equal(await dialog.count(), 0);

    await open('audit', 'Audit log');
    const [, ...rows] = await readRows();
    for (const row of rows) assert.match(row, /console\s+mira in console_/);
    const actions = await page.locator('td strong').allTextContents();
    const expected = [
      'account.plan_changed account.renamed account.suspended account.resumed ban.lifted',
      'pet.added pet.changed pet.deleted category.changed category.changed category.deleted',
      'order.cancelled order.returned webhook.disabled webhook.enabled webhook.replayed',
    ];
    assert.deepEqual(actions.toReversed(), expected.join(' ').split(' '));
  });
});
