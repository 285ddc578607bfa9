import { execFile } from 'node:child_process';
import { chmod, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installPacked } from '../test/client/packed-client.ts';

const run = promisify(execFile);
const packages = join(import.meta.dirname, 'node_modules');

/** A platform other than Node.js that runs the client. */
interface Platform {
  readonly name: string;
  /** The npm scope of the platform's packages. The installed package of the scope has the binary for this machine. */
  readonly folder: string;
  readonly binary: string;
  readonly runArgs: readonly string[];
  readonly testArgs: readonly string[];
}

/** The client tests that need no service. The other tests start a service in their process, which needs Node.js. */
const testFiles = ['exact-json', 'retry'].map((name) =>
  join(import.meta.dirname, `../test/client/${name}.test.ts`),
);

const platforms: readonly Platform[] = [
  {
    name: 'Deno',
    folder: '@deno',
    binary: 'deno',
    runArgs: ['run', '--allow-env', '--allow-net', '--no-remote'],
    testArgs: ['test', '--allow-env', '--allow-read', '--no-check', '--no-remote'],
  },
  { name: 'Bun', folder: '@oven', binary: 'bin/bun', runArgs: ['run'], testArgs: ['test'] },
];

/** Uses each part of the client that depends on the platform: requests, pages, errors, events, aborts, signatures. */
const program = `import { createHmac } from 'node:crypto';
import { AnimalStore, NotFoundError, stringifyExactJson, verifyWebhook } from '@animal-store/client';
const client = new AnimalStore();
const added = new Set();
for (const name of ['Rex', 'Bello', 'Mimi'])
  added.add((await client.pets.create({ name, categoryId: 9223372036854775807n })).id);
const names = [];
for await (const pet of client.pets.listAll({ categoryId: 9223372036854775807n, limit: 2 }))
  if (added.has(pet.id)) names.push(pet.name);
const page = await client.pets.list({ limit: 1 });
const failure = await client.request('GET', '/no/such/thing').catch((error) => error);
console.log(names.join(), stringifyExactJson(page.items[0].categoryId), failure instanceof NotFoundError);

const followed = [];
for await (const { type, data } of client.events.follow({ limit: 2 })) {
  if (type === 'pet.added' && added.has(data.id)) followed.push(data.name);
  if (followed.length === added.size) break;
}
const stopped = client.events.follow({ after: 'now', signal: AbortSignal.timeout(100) }).next();
console.log(followed.join(), await stopped.catch((error) => error.name));

const body = '{"id":"evt_1","type":"webhook.ping","timestamp":"2026-01-01T00:00:00Z","data":{}}';
const timestamp = String(Math.floor(Date.now() / 1000));
const secret = Buffer.alloc(32, 1);
const signature = createHmac('sha256', secret).update('evt_1.' + timestamp + '.' + body).digest('base64');
const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': timestamp, 'webhook-signature': 'v1,' + signature };
const verify = (text) => verifyWebhook(text, headers, 'whsec_' + secret.toString('base64'));
console.log((await verify(body))?.type, await verify(body + ' '));
`;
const expected = `Mimi,Bello,Rex 9223372036854775807 true
Rex,Bello,Mimi TimeoutError
webhook.ping null
`;

/**
 * Runs tests and a program with the installed client on every platform. Prints a verdict for each platform. Returns
 * false if one fails. A platform that is not available is skipped.
 */
export async function judgePlatforms(baseUrl: string, createKey: () => Promise<string>): Promise<boolean> {
  const endings: (() => unknown)[] = [];
  const { project } = await installPacked({ after: (end) => void endings.push(end) });
  const file = join(project, 'platform.mjs');
  await writeFile(file, program);
  let isRight = true;
  try {
    for (const platform of platforms) {
      const verdict = await judge(platform, file, { url: baseUrl, key: await createKey() });
      process.stdout.write(
        `client: ${platform.name}: ${verdict ?? 'the tests pass, and the program prints the expected output'}\n`,
      );
      if (verdict !== null && !verdict.startsWith('SKIPPED')) isRight = false;
    }
  } finally {
    for (const end of endings.reverse()) await end();
  }
  return isRight;
}

/** Returns the problem, or null. */
async function judge(
  { folder, binary, runArgs, testArgs }: Platform,
  file: string,
  { url, key }: { readonly url: string; readonly key: string },
): Promise<string | null> {
  const [own] = await readdir(join(packages, folder)).catch(() => []);
  if (own === undefined) return 'SKIPPED: npm has no binary for this machine';
  const env = { ...process.env, ANIMAL_STORE_URL: url, ANIMAL_STORE_KEY: key };
  const command = join(packages, folder, own, binary);
  try {
    // The install script that makes the binary executable does not run, because of --ignore-scripts.
    await chmod(command, 0o755);
    await run(command, [...testArgs, ...testFiles], { cwd: join(import.meta.dirname, '..') });
    const { stdout } = await run(command, [...runArgs, file], { env, cwd: join(file, '..') });
    return stdout === expected ? null : `the program prints ${stdout}`;
  } catch (error) {
    return String(error);
  }
}
