import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { scopes } from '../../../src/accounts/account.ts';
import { operations } from '../../../src/http/api/operations.ts';
import { toText } from '../../../src/http/docs-site/markup.ts';
import { nameAddress } from '../../../src/http/docs-site/reference/operation-markdown.ts';
import type { Operation } from '../../../src/http/operation.ts';
import { installPacked } from '../../client/packed-client.ts';
import { createExampleRequests, putIdentifiers } from '../../support/example-requests.ts';
import { whyNoProgram } from '../../support/programs.ts';
import { startService } from '../../support/service.ts';

const run = promisify(execFile);
const { project } = await installPacked({ after });
const { app, baseUrl, createKey } = await startService({ after });

const languages = { curl: 'bash', TypeScript: 'node', Python: 'python3' } as const;
const noPython = await whyNoProgram('python3');

/** Returns a sample as a reader copies it from the page. */
async function readSample(operation: Operation, language: string): Promise<string> {
  const html = await (await fetch(`${app.url}/docs/reference/${nameAddress(operation)}`)).text();
  const [, code = ''] = new RegExp(`data-language="${language}"><code>(.*?)</code>`, 's').exec(html) ?? [];
  return toText(code);
}

async function runSample(key: string, code: string, language: keyof typeof languages, name: string) {
  const endings = { curl: 'sh', TypeScript: 'ts', Python: 'py' };
  const file = join(project, `${name}.${endings[language]}`);
  await writeFile(file, code);
  if (language === 'TypeScript') return runModule(file, key);
  const env = { PATH: process.env['PATH'], ANIMAL_STORE_KEY: key };
  await run(languages[language], [file], { cwd: project, env });
}

/** Runs a module in this process, which is faster than a process for each. */
async function runModule(file: string, key: string): Promise<void> {
  process.env['ANIMAL_STORE_KEY'] = key;
  await import(file);
}

for (const operation of operations)
  for (const language of Object.keys(languages) as (keyof typeof languages)[]) {
    const skip = language === 'Python' && noPython;
    test(`the sample of ${operation.id} in ${language} works as shown on its page`, {
      skip,
    }, async () => {
      // Each operation uses a new account, because the number of some objects is limited by account.
      const key = await createKey('enterprise', undefined, { scopes });
      const made = await createExampleRequests(baseUrl, key, operations).prepare(operation);
      const shown = await readSample(operation, language);
      assert.ok(shown.includes(baseUrl));
      const code = putIdentifiers(shown, made);
      await runSample(key, code, language, `${operation.id}-${language}`);
    });
  }
