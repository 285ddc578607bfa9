import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createWorld, engines, makePlan, order } from './world.ts';

for (const engine of engines)
  describe(`accounts on ${engine.name}`, { skip: engine.skip }, () => {
    test('are listed in the order of their creation, with the number of their keys', async (t) => {
      const { keyring, accounts } = await createWorld(t, engine);
      await keyring.issue(order({ account: 'Zoo' }));
      await keyring.issue(order({ account: 'Ark', plan: makePlan('pro') }));
      const { id } = await keyring.issue(order({ account: 'Zoo' }));
      await keyring.revoke(id);
      assert.deepEqual(
        (await accounts.list()).map(({ account, plan, keys }) => [account, plan, keys]),
        [
          ['Zoo', 'free', 2],
          ['Ark', 'pro', 1],
        ],
      );
    });

    test('can move to another plan with its limits, and back', async (t) => {
      const { keyring, accounts } = await createWorld(t, engine);
      await keyring.issue(order({ account: 'Zoo' }));
      await keyring.issue(order({ account: 'Ark' }));
      for (const plan of [makePlan('enterprise', 5, 6), makePlan('enterprise', 7, 8), makePlan('business')]) {
        await accounts.setPlan('Zoo', plan);
        const [zoo, ark] = await accounts.list();
        assert.deepEqual([zoo?.plan, zoo?.limits], [plan.name, plan.limits]);
        assert.equal(ark?.plan, 'free');
      }
    });

    test('cannot move to another plan if they do not exist', async (t) => {
      const { accounts } = await createWorld(t, engine);
      await assert.rejects(accounts.setPlan('Zoo', makePlan('pro')), {
        name: 'OperatorError',
        message: 'there is no account "Zoo": "accounts list" shows all accounts',
      });
      assert.deepEqual(await accounts.list(), []);
    });
  });
