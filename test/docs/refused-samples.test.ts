import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { startServer } from '../support/local-server.ts';
import { makeFolder, startService } from '../support/service.ts';
import { findBlocks, readDocument } from './markdown.ts';

const run = promisify(execFile);

/** Starts a proxy that refuses every second request with a 429, and then forwards it. Returns its base address. */
async function startRefusing(t: TestContext, baseUrl: string): Promise<string> {
  let asked = 0;
  const origin = await startServer(t, async ({ url = '', headers }, response) => {
    asked += 1;
    if (asked % 2 === 1) {
      const body = '{"code":"rate_limit_exceeded","message":"retry after 1 s","status":429}';
      response.writeHead(429, { 'retry-after': '1', 'content-type': 'application/json' }).end(body);
      return;
    }
    const { authorization = '' } = headers;
    const answer = await fetch(new URL(url, baseUrl), { headers: { authorization } });
    response.writeHead(answer.status, { link: answer.headers.get('link') ?? '' }).end(await answer.text());
  });
  return `${origin}/v1`;
}

/** Returns a function that runs the program of a page in a folder of its own. */
async function prepareProgram(t: TestContext, path: string, key: string, baseUrl: string) {
  const folder = await makeFolder(t);
  const [program] = findBlocks(await readDocument(path)).filter(({ info }) => info === 'ts');
  const code = (program?.code ?? '').replace(/import \{ Webhook \}.*\n/, '');
  await writeFile(join(folder, 'program.ts'), code);
  const env = { ANIMAL_STORE_KEY: key, ANIMAL_STORE_URL: baseUrl };
  return async () => (await run(process.execPath, ['program.ts'], { cwd: folder, env })).stdout;
}

for (const [path, expected] of [
  ['docs/pages.md', '"name":"n1"'],
  ['docs/events.md', 'pet.added'],
] as const)
  test(`the program of ${path} asks again after a 429 and misses nothing`, async (t) => {
    const service = await startService(t);
    await service.importPets(101);
    const address = await startRefusing(t, service.baseUrl);
    const runProgram = await prepareProgram(t, path, await service.createKey(), address);
    const printed = await runProgram();
    assert.ok(printed.includes(expected), printed);
    assert.equal(printed.match(/"?name"?: ?['"]n\d+/g)?.length, 101);
    // A second run continues where the first one ended.
    assert.equal((await runProgram()).includes(expected), path === 'docs/pages.md');
  });

test('a program of a page ends with an error if its key is wrong', async (t) => {
  const { baseUrl } = await startService(t);
  for (const path of ['docs/pages.md', 'docs/events.md', 'docs/webhooks.md'])
    await assert.rejects(
      await prepareProgram(t, path, 'as_stg_wrong', baseUrl),
      /401 \{"code":"api_key_invalid"/,
    );
});
