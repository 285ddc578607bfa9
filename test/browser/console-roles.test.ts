import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleOperations } from '../../src/operator/console/console.ts';
import { coversRole, type Role, roles } from '../../src/operator-role.ts';
import { describeInBrowser } from './chromium.ts';
import { type Desk, openDesk } from './console.ts';
import { furnish } from './console-pages.ts';

type Address = (typeof consoleOperations)[number]['address'];

/** The operations of the buttons of each page, by the address of the page and the start of the name of a button. */
const acts: Readonly<Record<string, Readonly<Record<string, Address>>>> = {
  '': { 'Change the log': 'PUT /log' },
  accounts: { 'New account': 'POST /accounts' },
  'accounts/Acme%20Zoo': {
    'Change the plan': 'PUT /accounts/{account}/plan',
    'Set limits': 'PUT /accounts/{account}/limits',
    'Reset windows': 'POST /accounts/{account}/reset-limits',
    Rename: 'PUT /accounts/{account}/name',
    Suspend: 'POST /accounts/{account}/suspend',
    Delete: 'POST /accounts/{account}/delete',
    'New key': 'POST /accounts/{account}/keys',
    'Lift the ban as_': 'POST /keys/{keyId}/lift-ban',
    'Rotate as_': 'POST /keys/{keyId}/rotate',
    'Revoke as_': 'POST /keys/{keyId}/revoke',
    'Enable wh_': 'POST /webhooks/{webhookId}/enable',
    'Disable wh_': 'POST /webhooks/{webhookId}/disable',
    'Replay wh_': 'POST /webhooks/{webhookId}/replay',
  },
  bans: { 'Lift the ban as_': 'POST /keys/{keyId}/lift-ban' },
  requests: {},
  animals: { 'Add an animal': 'POST /pets' },
  'animals/1': {
    Edit: 'PATCH /pets/{petId}',
    Delete: 'DELETE /pets/{petId}',
    'Cancel the order': 'POST /orders/{orderId}/cancel',
  },
  categories: {
    'Name a category': 'PUT /categories/{categoryId}',
    'Rename the category': 'PUT /categories/{categoryId}',
    'Remove the name': 'DELETE /categories/{categoryId}',
  },
  orders: {
    'Cancel the order': 'POST /orders/{orderId}/cancel',
    'Return the order': 'POST /orders/{orderId}/return',
  },
  'orders/1': { 'Cancel the order': 'POST /orders/{orderId}/cancel' },
  'orders/2': { 'Return the order': 'POST /orders/{orderId}/return' },
  webhooks: {
    'Enable wh_': 'POST /webhooks/{webhookId}/enable',
    'Disable wh_': 'POST /webhooks/{webhookId}/disable',
    'Replay wh_': 'POST /webhooks/{webhookId}/replay',
  },
  'webhooks/wh_8tKq2ZmX0aLr5VnC': {
    'Send an event': 'POST /webhooks/{webhookId}/send',
    'Disable wh_': 'POST /webhooks/{webhookId}/disable',
    'Replay wh_': 'POST /webhooks/{webhookId}/replay',
  },
  operators: {
    'Add an operator': 'POST /operators',
    'New token for ': 'POST /operators/{operator}/tokens',
    'Remove ': 'DELETE /operators/{operator}',
    'End ': 'DELETE /sessions/{session}',
  },
  audit: {},
  'search?text=a': {},
};

const roleOf = new Map<string, Role>(consoleOperations.map(({ address, role }) => [address, role]));

/** Lists the acts of a page that the role may do, in the order of `acts`. */
function listAllowed(page: string, role: Role): string[] {
  const allowed = Object.entries(acts[page] ?? {}).filter(([, address]) =>
    coversRole(role, roleOf.get(address) ?? 'admin'),
  );
  return allowed.map(([name]) => name);
}

/** The names of the buttons that change nothing in the store: those of tables, filters and plots. */
const harmless = /^(?:Show|Open|CSV of this page|CSV by day|Try again|Hours?|Days?)$/;

/** Lists the names of all buttons of the open page that act. A button of a table head only sorts. */
async function listButtons({ page }: Desk): Promise<string[]> {
  const buttons = page.getByRole('main').locator('button:not(.sort):visible');
  const names = await buttons.evaluateAll((all: { ariaLabel: string | null; textContent: string }[]) =>
    all.map(({ ariaLabel, textContent }) => ariaLabel ?? textContent.trim()),
  );
  return names.filter((name) => !harmless.test(name));
}

describeInBrowser('the acts in the console', (browser) => {
  for (const role of roles)
    test(`are on every page those that the role ${role} may do`, async (t) => {
      const desk = await openDesk(t, browser());
      await furnish(desk);
      const { page, consoleUrl, makeLink, store, complaints } = desk;
      await store.operators.add(`the-${role}`, role);
      await page.goto(`${consoleUrl}#sign-in=${await makeLink(`the-${role}`)}`);
      await page.getByText(`the-${role} (${role})`).waitFor();
      for (const address of Object.keys(acts)) {
        await page.goto(`${consoleUrl}#/${address}`);
        await page.getByText('Loading…').waitFor({ state: 'detached' });
        await page.getByRole('heading', { level: 1 }).waitFor();
        const allowed = listAllowed(address, role);
        for (const name of allowed) await page.getByRole('button', { name }).first().waitFor();
        const other = (await listButtons(desk)).filter(
          (name) => !allowed.some((start) => name.startsWith(start)),
        );
        assert.deepEqual(other, [], `${address} offers to ${role}`);
        if (role === 'reader')
          assert.equal(await page.getByRole('columnheader', { name: 'Actions' }).count(), 0, address);
      }
      assert.deepEqual(complaints, []);
    });

  test('are not offered again on a page that the role may not see', async (t) => {
    const { page, consoleUrl, makeLink, store } = await openDesk(t, browser());
    await store.operators.add('the-reader', 'reader');
    await page.goto(`${consoleUrl}#sign-in=${await makeLink('the-reader')}`);
    await page.getByText('the-reader (reader)').waitFor();
    await page.goto(`${consoleUrl}#/strangers`);
    await page.getByRole('alert').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0);
  });

  test('are all of the API that changes something, except for the ways back from a suspension or a restore', () => {
    const offered = new Set(Object.values(acts).flatMap((ofPage) => Object.values<string>(ofPage)));
    const missing = consoleOperations.filter(
      ({ method, address }) => method !== 'GET' && !offered.has(address),
    );
    assert.deepEqual(
      missing.map(({ address }) => address),
      ['POST /accounts/{account}/resume', 'POST /webhooks/resume'],
    );
  });
});
