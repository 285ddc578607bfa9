import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startNginx, whyNoNginx } from '../support/nginx.ts';

const skip = await whyNoNginx();

/** nginx as it is shipped, before what stands for its instances, and how many requests have come to that. */
async function startBalancer(t: TestContext) {
  let passedOn = 0;
  const instance = createServer((_request, response) => {
    passedOn += 1;
    response.end();
  });
  instance.listen(0, '127.0.0.1');
  t.after(() => instance.close());
  await once(instance, 'listening');
  const { port } = instance.address() as AddressInfo;
  const nginx = await startNginx(t, [port, port, port]);
  return { ...nginx, countPassedOn: () => passedOn };
}

/** What the health check of the balancer asks for. */
async function readChecked(): Promise<URL> {
  const compose = await readFile(join(import.meta.dirname, '../../deploy/compose.yaml'), 'utf8');
  const [, checked = ''] = /test: \[CMD, wget, .*'(http:.+)'\]/.exec(compose) ?? [];
  return new URL(checked);
}

test('the health check of the balancer asks nginx itself, so that nothing is counted', {
  skip,
}, async (t) => {
  const { url, ownUrl, countPassedOn } = await startBalancer(t);
  const before = countPassedOn();
  const { port, pathname } = await readChecked();
  const response = await fetch((port === '8090' ? ownUrl : url) + pathname);
  assert.equal(response.status, 200);
  assert.equal(countPassedOn(), before);
});
