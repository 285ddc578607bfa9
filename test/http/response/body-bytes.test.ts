import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startWithKey } from '../../support/service.ts';

const { service, key } = await startWithKey({ after });

/** Reads a response, whose body must have exactly the bytes of `text` and their number as its length. */
async function expectBytes(response: Response, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes);
  assert.equal(response.headers.get('content-length'), String(bytes.length));
}

for (const name of ['Rex', 'Zoë', '犬', 'Ünal 🐈‍⬛ 犬', '\u0080\u00ff\u0100\uffff'])
  test(`the name ${JSON.stringify(name)} arrives as its UTF-8, from the store and from the cache`, async () => {
    const added = await service.post(key, JSON.stringify({ name, categoryId: 1 }));
    const id = added.headers.get('location')?.replace(/.*\//, '');
    const pet = `{"id":${id},"name":${JSON.stringify(name)},"categoryId":1,"status":"available"}`;
    await expectBytes(added, pet);
    for (let again = 0; again < 2; again += 1) {
      await expectBytes(await service.request(key, `/pets/${id}`), pet);
      await expectBytes(await service.request(key, '/pets?limit=1'), `[${pet}]`);
    }
  });

test('an error message that quotes a name of the client arrives as its UTF-8', async () => {
  const response = await service.post(key, '{"name":"Rex","categoryId":1,"犬ë":1}', {
    prefer: 'handling=strict',
  });
  const message = '犬ë is not a field of this body';
  await expectBytes(response, JSON.stringify({ code: 'invalid_body', message, status: 400 }));
});
