import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { reviewSecrets } from '../../src/webhooks/review-secrets.ts';
import { createSecretBox } from '../../src/webhooks/secret-box.ts';
import { sealingKey, testsOn } from '../contracts/webhook-world.ts';
import { describeOnEngines } from '../support/engines.ts';
import { examineWith, expectFinding } from './examined.ts';

const [right, wrong] = [sealingKey, randomBytes(32)].map((key) => key.toString('base64'));

await describeOnEngines('about webhook secrets, the doctor reports', (engine) => {
  const test = testsOn(engine);

  test('with the words of a start that no key decrypts any', async ({ store, database, add }) => {
    const { id } = await add();
    const { lostKey } = await reviewSecrets(database, createSecretBox([]));
    for (const WEBHOOK_SECRET_KEY of ['', `${wrong}`]) {
      const findings = await examineWith({ DATABASE_URL: store.url, WEBHOOK_SECRET_KEY });
      expectFinding(findings, 'webhooks', 'problem', new RegExp(`does not decrypt .* ${id}$`));
      assert.partialDeepStrictEqual(
        findings.find(({ check }) => check === 'webhooks'),
        lostKey,
      );
    }
  });

  test('nothing if a former key decrypts them, and leaves them so', async ({ store, add }) => {
    await add();
    const read = () => store.execute('select secret from webhook_secrets');
    const before = await read();
    const WEBHOOK_SECRET_KEY = `${wrong},${right}`;
    const findings = await examineWith({ DATABASE_URL: store.url, WEBHOOK_SECRET_KEY });
    assert.ok(findings.every(({ check }) => check !== 'webhooks'));
    assert.deepEqual(await read(), before);
  });
});
