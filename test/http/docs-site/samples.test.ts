import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { scopes } from '../../../src/accounts/account.ts';
import { operations } from '../../../src/http/api/operations.ts';
import { toText } from '../../../src/http/docs-site/markup.ts';
import { nameOperation, type Operation } from '../../../src/http/operation.ts';
import { installPacked } from '../../client/packed-client.ts';
import { untilRendered } from '../../support/documentation.ts';
import { createExampleRequests, putIdentifiers } from '../../support/example-requests.ts';
import { whyNoProgram } from '../../support/programs.ts';
import { startService } from '../../support/service.ts';

const run = promisify(execFile);
const { project } = await installPacked({ after });
const { app, baseUrl, createKey } = await startService({ after });
await untilRendered(app.url);

/** The program that runs the samples of each language, and the ending of their files. */
const languages = { curl: ['bash', 'sh'], TypeScript: ['node', 'ts'], Python: ['python3', 'py'] } as const;
const noPython = await whyNoProgram('python3');

/** Returns a sample as a reader copies it from the page. */
async function readSample(operation: Operation, language: string): Promise<string> {
  const html = await (await fetch(`${app.url}/docs/reference/${nameOperation(operation)}`)).text();
  const [, code = ''] = new RegExp(`data-language="${language}"><code>(.*?)</code>`, 's').exec(html) ?? [];
  return toText(code);
}

test('a sample in Python prints the code of an error', { skip: noPython }, async () => {
  const [operation = assert.fail()] = operations;
  const file = join(project, 'error.py');
  await writeFile(file, await readSample(operation, 'Python'));
  const env = { PATH: process.env['PATH'], ANIMAL_STORE_KEY: 'as_stg_wrong' };
  await assert.rejects(run('python3', [file], { env }), { code: 1, stderr: 'api_key_invalid\n' });
});

for (const operation of operations)
  for (const [language, [program, ending]] of Object.entries(languages))
    test(`the sample of ${operation.id} in ${language} works as shown on its page`, {
      skip: language === 'Python' && noPython,
    }, async () => {
      // Each operation uses a new account, because the number of some objects is limited by account.
      const key = await createKey('enterprise', undefined, { scopes });
      const made = await createExampleRequests(baseUrl, key, operations).prepare(operation);
      const shown = await readSample(operation, language);
      assert.ok(shown.includes(baseUrl));
      const file = join(project, `${operation.id}-${language}.${ending}`);
      await writeFile(file, putIdentifiers(shown, made));
      const env = { PATH: process.env['PATH'], ANIMAL_STORE_KEY: key };
      if (program !== 'node') return void (await run(program, [file], { cwd: project, env }));
      // Importing a module in this process is faster than a process for each.
      process.env['ANIMAL_STORE_KEY'] = key;
      await import(file);
    });
