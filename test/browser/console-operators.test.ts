import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayMs } from '../../src/clock.ts';
import { describeInBrowser } from './chromium.ts';
import { openDesk } from './console.ts';

/** The day, in UTC, that is some days after a time. */
const endIn = (nowMs: number, days: number) => new Date(nowMs + days * dayMs).toISOString().slice(0, 10);

describeInBrowser('the page of the operators', (browser) => {
  test('adds and removes an operator', async (t) => {
    const { open, act, store } = await openDesk(t, browser());
    await open('operators', 'Operators');
    const entries = { Name: 'omar', Role: 'support' };
    await act('Add an operator', entries, 'Add the operator', 'The operator is added.');
    const listed = await store.operators.list();
    assert.deepEqual(
      listed.map(({ name, role }) => [name, role]),
      [['omar', 'support']],
    );
    await act('Remove omar', {}, 'Remove the operator', 'omar is no longer an operator.');
    assert.deepEqual(await store.operators.list(), []);
  });

  test('makes a token, which is shown once', async (t) => {
    const { open, press, submit, dialog, page, store, clock, app } = await openDesk(t, browser());
    await store.operators.add('report', 'reader');
    await open('operators', 'Operators');
    await press('New token for report');
    await submit({ Days: '90' }, 'Make the token');
    const token = (await dialog.getByLabel('The token', { exact: true }).textContent()) ?? '';
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${app.opsUrl}/ops/v1/session`, { headers });
    const { id, role } = (await answer.json()) as { readonly id: string; readonly role: string };
    assert.equal(role, 'reader');
    assert.match(
      (await dialog.textContent()) ?? '',
      new RegExp(`${id}.*expires at ${endIn(clock.now(), 90)}`, 's'),
    );
    await dialog.getByRole('button', { name: 'I have copied the token' }).click();
    await page.getByRole('button', { name: `End ${id}` }).waitFor();
    assert.ok(!(await page.content()).includes(token));
    const { items } = await store.audit.list({ limit: 1, newestId: null });
    assert.deepEqual([items[0]?.action, items[0]?.subject], ['operator.token_made', 'report']);
  });

  test('ends the session of another person', async (t) => {
    const { open, act, store, signIn, call } = await openDesk(t, browser());
    await store.operators.add('omar', 'reader');
    const cookie = await signIn('omar');
    const { id } = (await (await call(cookie, '/session')).json()) as { readonly id: string };
    await open('operators', 'Operators');
    await act(`End ${id}`, {}, 'End the session', 'The session of omar has ended.');
    assert.equal((await call(cookie, '/session')).status, 401);
  });
});
