import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { makeFolder, startService } from '../support/service.ts';
import { findBlocks, readDocument } from './markdown.ts';

const run = promisify(execFile);

/** Starts a proxy that refuses every second request with a 429, and then forwards it. Returns its base address. */
async function startRefusing(t: TestContext, baseUrl: string): Promise<string> {
  let asked = 0;
  const { origin } = new URL(baseUrl);
  const server = createServer(async ({ url = '', headers }, response) => {
    asked += 1;
    if (asked % 2 === 1) {
      const body = '{"code":"rate_limit_exceeded","message":"retry after 1 s","status":429}';
      response.writeHead(429, { 'retry-after': '1', 'content-type': 'application/json' }).end(body);
      return;
    }
    const answer = await fetch(origin + url, { headers: { authorization: headers.authorization ?? '' } });
    response.writeHead(answer.status, { link: answer.headers.get('link') ?? '' }).end(await answer.text());
  });
  server.listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

for (const [path, expected] of [
  ['docs/pages.md', '"name":"n1"'],
  ['docs/events.md', 'pet.added'],
] as const)
  test(`the program of ${path} asks again after a 429 and misses nothing`, async (t) => {
    const service = await startService(t);
    await service.importPets(101);
    const folder = await makeFolder(t);
    const [program] = findBlocks(await readDocument(path)).filter(({ info }) => info === 'ts');
    await writeFile(join(folder, 'program.ts'), program?.code ?? '');
    const env = {
      ANIMAL_STORE_KEY: await service.createKey(),
      ANIMAL_STORE_URL: await startRefusing(t, service.baseUrl),
    };
    const { stdout } = await run(process.execPath, ['program.ts'], { cwd: folder, env });
    assert.ok(stdout.includes(expected), stdout);
    assert.equal(stdout.match(/"?name"?: ?['"]n\d+/g)?.length, 101);
    // A second run continues where the first one ended.
    const { stdout: again } = await run(process.execPath, ['program.ts'], { cwd: folder, env });
    assert.equal(again.includes(expected), path === 'docs/pages.md');
  });

test('a program of a page ends with an error if its key is wrong', async (t) => {
  const service = await startService(t);
  const folder = await makeFolder(t);
  for (const path of ['docs/pages.md', 'docs/events.md', 'docs/webhooks.md']) {
    const [program] = findBlocks(await readDocument(path)).filter(({ info }) => info === 'ts');
    const code = (program?.code ?? '').replace(/import \{ Webhook \}.*\n/, '');
    await writeFile(join(folder, 'program.ts'), code);
    const env = { ANIMAL_STORE_KEY: 'as_stg_wrong', ANIMAL_STORE_URL: service.baseUrl };
    await assert.rejects(
      run(process.execPath, ['program.ts'], { cwd: folder, env }),
      /401 \{"code":"api_key_invalid"/,
    );
  }
});
