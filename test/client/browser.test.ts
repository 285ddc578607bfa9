import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { describeInBrowser, openVisit, skip } from '../browser/chromium.ts';
import { startServer } from '../support/local-server.ts';
import { type Ending, startService } from '../support/service.ts';
import { installPacked } from './packed-client.ts';

/** Serves an empty page and the files of the package. Returns their origin. */
async function servePackage(test: Ending): Promise<string> {
  const { project } = await installPacked(test);
  const dist = join(project, 'node_modules/@animal-store/client/dist');
  return await startServer(test, async ({ url = '/' }, response) => {
    if (url === '/') return response.setHeader('content-type', 'text/html').end('<!doctype html>');
    response.setHeader('content-type', 'text/javascript');
    return response.end(await readFile(join(dist, basename(url))).catch(() => ''));
  });
}

const origin = skip === false ? await servePackage({ after }) : '';

describeInBrowser('the client in a browser', (browser) => {
  test('a page of a listed origin can add and list animals and read failures, limits and deprecations', async (t) => {
    const service = await startService(t, { CORS_ORIGINS: origin });
    await service.importPets(5);
    const { page, complaints } = await openVisit(t, browser());
    await page.goto(origin);
    const seen = await page.evaluate(`(async () => {
      const { AnimalStore, stringifyExactJson } = await import('/index.js');
      const deprecated = [];
      const onDeprecation = ({ operation }) => deprecated.push(operation);
      const options = { apiKey: '${await service.createKey()}', baseUrl: '${service.baseUrl}' };
      const { pets } = new AnimalStore({ ...options, onDeprecation, userAgent: 'page/1' });
      const added = await pets.create({ name: 'Rex', categoryId: -9223372036854775808n });
      const ids = [];
      for await (const { id } of pets.listAll({ limit: 2 })) ids.push(String(id));
      const { code, requestId } = await pets.get(99).catch((error) => error);
      const remaining = added.response.rateLimit.remaining;
      return { added: stringifyExactJson(added), ids, code, requestId, remaining, deprecated };
    })()`);
    const { requestId, remaining, ...rest } = seen as { requestId: string; remaining: number };
    assert.deepEqual(rest, {
      added: '{"id":6,"name":"Rex","categoryId":-9223372036854775808,"status":"available"}',
      ids: ['6', '5', '4', '3', '2', '1'],
      code: 'not_found',
      deprecated: ['getPet'],
    });
    assert.match(requestId, /^req_/);
    assert.ok(remaining > 0);
    // The browser reports every 404 in its console.
    const others = complaints.filter((line) => !line.includes('404'));
    assert.deepEqual(others, []);
  });

  test('a page of an origin that is not listed gets an error that names the setting', async (t) => {
    const service = await startService(t);
    const { page } = await openVisit(t, browser());
    await page.goto(origin);
    const message = await page.evaluate(`(async () => {
      const { AnimalStore } = await import('/index.js');
      const options = { apiKey: 'as_dev_x', baseUrl: '${service.baseUrl}', maxRetries: 0 };
      return await new AnimalStore(options).pets.list().catch(({ message }) => message);
    })()`);
    assert.match(String(message), /^no answer from .*\(is the origin of this page in CORS_ORIGINS/);
  });
});
