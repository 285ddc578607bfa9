import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeInBrowser } from './chromium.ts';
import { openDesk } from './console.ts';

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
