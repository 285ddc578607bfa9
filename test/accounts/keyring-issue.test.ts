import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { partnerScopes } from '../../src/accounts/account.ts';
import { hashKey, isKeyText } from '../../src/accounts/api-key.ts';
import { dayMs } from '../../src/clock.ts';
import { createWorld, engines, findListed, makePlan, order } from './world.ts';

for (const engine of engines)
  describe(`issuing keys on ${engine.name}`, { skip: engine.skip }, () => {
    test('creates a new account with a unique name for each key if no account is named', async (t) => {
      const { keyring, accounts } = await createWorld(t, engine);
      const [one, other] = [await keyring.issue(order()), await keyring.issue(order())];
      assert.notEqual(one.account, other.account);
      const listed = await accounts.list();
      assert.deepEqual(
        listed.map(({ account, keys }) => [account, keys]),
        [
          [one.account, 1],
          [other.account, 1],
        ],
      );
    });

    test('creates the named account on the named plan if it does not exist', async (t) => {
      const { keyring, accounts, clock } = await createWorld(t, engine);
      const plan = makePlan('enterprise', 7, 10);
      const issued = await keyring.issue(order({ account: '動物園', plan }));
      assert.ok(isKeyText(issued.key));
      assert.match(issued.key, /^as_stg_/);
      assert.equal(issued.account, '動物園');
      assert.equal(issued.plan, 'enterprise');
      assert.deepEqual(await accounts.list(), [
        {
          id: 1n,
          account: '動物園',
          plan: 'enterprise',
          limits: plan.limits,
          openHolds: 100,
          keys: 1,
          createdAtMs: clock.now(),
          suspendedAtMs: null,
        },
      ]);
    });

    for (const plan of [null, makePlan('pro')])
      test(`adds a key to an existing account if ${plan === null ? 'no plan' : "the account's plan"} is named`, async (t) => {
        const { keyring, accounts } = await createWorld(t, engine);
        await keyring.issue(order({ account: 'Zoo', plan: makePlan('pro') }));
        const issued = await keyring.issue(order({ account: 'Zoo', plan }));
        assert.equal(issued.plan, 'pro');
        assert.deepEqual(
          (await accounts.list()).map(({ account, keys }) => [account, keys]),
          [['Zoo', 2]],
        );
      });

    for (const [is, named] of [
      [makePlan('pro'), makePlan('free')],
      [makePlan('enterprise', 7, 10), makePlan('enterprise', 7, 11)],
      [makePlan('pro'), makePlan('enterprise', 300, 10_000)],
    ] as const)
      test(`refuses the plan ${named.name} (${named.limits.perDay} a day) for an account on the plan ${is.name}`, async (t) => {
        const { keyring } = await createWorld(t, engine);
        await keyring.issue(order({ account: 'Zoo', plan: is }));
        await assert.rejects(keyring.issue(order({ account: 'Zoo', plan: named })), {
          name: 'OperatorError',
          message: `the account "Zoo" already has a plan (${is.name}): "accounts set-plan" changes the plan`,
        });
        assert.equal((await keyring.list()).length, 1);
      });

    test('refuses a new account without a plan, and creates nothing', async (t) => {
      const { keyring, accounts } = await createWorld(t, engine);
      await assert.rejects(keyring.issue(order({ account: 'Zoo', plan: null })), { name: 'OperatorError' });
      assert.deepEqual(await accounts.list(), []);
    });

    for (const account of ['', '..', ' Zoo', 'x'.repeat(101), 'a\x1b[31m'])
      test(`refuses ${JSON.stringify(account.slice(0, 10))} as an account name, and creates nothing`, async (t) => {
        const { keyring, accounts } = await createWorld(t, engine);
        await assert.rejects(keyring.issue(order({ account })), {
          name: 'OperatorError',
          message: /^an account name must have 1 to 100 characters/,
        });
        assert.deepEqual(await accounts.list(), []);
      });

    test('stores only the SHA-256 and the visible start of a key', async (t) => {
      const { keyring, store } = await createWorld(t, engine);
      const { id, key } = await keyring.issue(order());
      const [row] = (await store.execute('select * from api_keys')) as Record<string, unknown>[];
      assert.deepEqual(Buffer.from(row?.['secret_hash'] as Uint8Array), Buffer.from(hashKey(key)));
      assert.equal((await findListed(keyring, id)).visibleStart, key.slice(0, 'as_stg_'.length + 4));
      const text = Object.values(row ?? {})
        .map(String)
        .join(' ');
      assert.ok(!text.includes(key.slice('as_stg_'.length, 'as_stg_'.length + 5)));
    });

    test('returns and lists the scopes, the expiry and the creation time of a key', async (t) => {
      const { keyring, clock } = await createWorld(t, engine);
      const issued = await keyring.issue(order({ scopes: ['pets:read'], lifetimeMs: 30 * dayMs }));
      assert.deepEqual(issued.scopes, ['pets:read']);
      assert.equal(issued.expiresAtMs, clock.now() + 30 * dayMs);
      const { id, account, plan, key } = issued;
      assert.deepEqual(await findListed(keyring, id), {
        id,
        visibleStart: key.slice(0, 11),
        name: null,
        account,
        plan,
        state: 'active',
        scopes: ['pets:read'],
        createdAtMs: clock.now(),
        expiresAtMs: clock.now() + 30 * dayMs,
        revokedAtMs: null,
        lastUsedAtMs: null,
        bannedUntilMs: null,
      });
    });

    test('gives a key the default scopes and no expiry if neither is named', async (t) => {
      const { keyring } = await createWorld(t, engine);
      const issued = await keyring.issue(order());
      assert.deepEqual(issued.scopes, partnerScopes);
      assert.equal(issued.expiresAtMs, null);
    });

    test('lists keys in the order of their creation', async (t) => {
      const { keyring, clock } = await createWorld(t, engine);
      const ids: string[] = [];
      for (let count = 0; count < 5; count += 1) {
        ids.push((await keyring.issue(order())).id);
        clock.advance(1);
      }
      assert.deepEqual(
        (await keyring.list()).map(({ id }) => id),
        ids,
      );
    });
  });

for (const engine of engines)
  describe(`keys issued at the same time on ${engine.name}`, { skip: engine.skip }, () => {
    test('all belong to one account if they name the same new account', async (t) => {
      const { keyring, openOther, accounts } = await createWorld(t, engine);
      const keyrings = [keyring, await openOther()];
      const orders = Array.from({ length: 20 }, (_, index) =>
        keyrings[index % 2]?.issue(order({ account: 'Zoo' })),
      );
      const issued = await Promise.all(orders);
      assert.equal(new Set(issued.map((key) => key?.key)).size, 20);
      assert.deepEqual(
        (await accounts.list()).map(({ account, keys }) => [account, keys]),
        [['Zoo', 20]],
      );
    });

    test('are refused, except the first, if they name different plans for a new account', async (t) => {
      const { keyring, openOther, accounts } = await createWorld(t, engine);
      const other = await openOther();
      const results = await Promise.allSettled([
        keyring.issue(order({ account: 'Zoo', plan: makePlan('free') })),
        other.issue(order({ account: 'Zoo', plan: makePlan('pro') })),
      ]);
      const refused = results.find(({ status }) => status === 'rejected');
      assert.ok(refused?.status === 'rejected');
      assert.match(
        String(refused.reason),
        /OperatorError: the account "Zoo" already has a plan \((?:free|pro)\)/,
      );
      assert.equal((await accounts.list()).length, 1);
    });

    test('include exactly one first key of an empty store', async (t) => {
      const { keyring, openOther } = await createWorld(t, engine);
      const keyrings = [keyring, await openOther()];
      const firsts = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          keyrings[index % 2]?.issueFirst('development', makePlan('business')),
        ),
      );
      assert.equal(firsts.filter((issued) => issued !== null).length, 1);
      assert.equal((await keyring.list()).length, 1);
    });

    test('include no first key if the store already has an account', async (t) => {
      const { keyring } = await createWorld(t, engine);
      await keyring.issue(order());
      assert.equal(await keyring.issueFirst('development', makePlan('business')), null);
    });
  });
