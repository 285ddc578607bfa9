import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const folder = import.meta.dirname;
const generateMsMax = 300_000;

/** A client generator, and a program that calls the service with the generated client. */
interface Generator {
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
  /** Files that the generator or the program needs. */
  readonly files: Readonly<Record<string, string>>;
  /** Adds an animal, lists the newest one and prints its name, and places an order with nothing but `petId`. */
  readonly program: string;
  /** Imports or declares the generated types `StoreEvent`, `StoreError` and `NewWebhook`. */
  readonly types: string;
}

const key = "process.env['ANIMAL_STORE_KEY']";
const newPet = "{ name: 'Rex', categoryId: 1 }";

/** What a later release sends. The generated types accept it in responses, and refuse it in requests. */
const growth = `
const event: StoreEvent = { id: 'evt_0', type: 'pet.renamed', timestamp: '2027-01-02T12:00:00.000Z', data: {} };
const error: StoreError = { code: 'animal_lost', message: 'lost', status: 404 };
// @ts-expect-error: requests have only known values.
const webhook: NewWebhook = { url: 'https://partner.example.com/', types: ['pet.renamed'] };
void [event, error, webhook];
`;

function listGenerators(descriptionUrl: string, baseUrl: string): readonly Generator[] {
  return [
    {
      name: 'openapi-typescript with openapi-fetch',
      command: ['openapi-typescript', descriptionUrl, '-o', 'paths.d.ts'],
      files: {},
      program: `import createClient from 'openapi-fetch';
import type { paths } from './paths.d.ts';
const headers = { authorization: \`Bearer \${${key}}\` };
const client = createClient<paths>({ baseUrl: '${baseUrl}', headers });
const added = await client.POST('/pets', { body: ${newPet} });
const listed = await client.GET('/pets', { params: { query: { limit: 1 } } });
const placed = await client.POST('/orders', { body: { petId: listed.data![0]!.id } });
console.log(added.response.status, listed.data?.[0]?.name, placed.response.status);
`,
      types: `import type { components } from './paths.d.ts';
type StoreEvent = components['schemas']['StoreEvent'];
type StoreError = components['schemas']['Error'];
type NewWebhook = components['schemas']['NewWebhook'];
`,
    },
    {
      name: 'hey-api, with the address of the description',
      command: ['openapi-ts', '-i', descriptionUrl, '-o', 'generated', '-c', '@hey-api/client-fetch'],
      files: {},
      program: `import { createPet, listPets, placeOrder } from './generated/index.js';
import { client } from './generated/client.gen.js';
client.setConfig({ auth: () => ${key} });
const added = await createPet({ body: ${newPet} });
const listed = await listPets({ query: { limit: 1 } });
const placed = await placeOrder({ body: { petId: listed.data![0]!.id } });
console.log(added.response?.status, listed.data?.[0]?.name, placed.response?.status);
`,
      types: "import type { NewWebhook, StoreEvent, Error as StoreError } from './generated/index.js';\n",
    },
    {
      name: 'orval with zod, with the address of the description',
      command: ['orval', '--config', 'orval.config.mjs'],
      files: {
        'orval.config.mjs': `const input = '${descriptionUrl}';
const override = { zod: { generateEachHttpStatus: true } };
export default {
  store: { input, output: { target: 'generated.ts', client: 'fetch', baseUrl: { getBaseUrlFromSpecification: true } } },
  schemas: { input, output: { target: 'schemas.ts', client: 'zod', override } },
};
`,
      },
      program: `import { createPet, listPets, placeOrder } from './generated.js';
const options = { headers: { authorization: \`Bearer \${${key}}\` } };
const added = await createPet(${newPet}, options);
const listed = await listPets({ limit: 1 }, options);
if (listed.status !== 200) throw new Error(String(listed.status));
const placed = await placeOrder({ petId: listed.data[0]!.id }, options);
console.log(added.status, listed.data[0]?.name, placed.status);
GetEvent200Response.parse(event);
GetEvent404Response.parse(error);
if (CreateWebhookBody.safeParse(webhook).success) throw new Error('zod accepts a new type in a request');
`,
      types: `import type { NewWebhook, StoreEvent, Error as StoreError } from './generated.js';
import { CreateWebhookBody, GetEvent200Response, GetEvent404Response } from './schemas.js';
`,
    },
  ];
}

/**
 * Generates a client with each generator, checks its types, also with what a later release adds, and calls the service. Returns a complaint for each
 * generator that fails.
 */
export async function judgeGenerators(origin: string, apiKey: string): Promise<string[]> {
  const complaints: string[] = [];
  for (const generator of listGenerators(`${origin}/openapi.json`, `${origin}/v1`)) {
    const verdict = await judge(generator, apiKey);
    process.stdout.write(
      `/openapi.json: ${generator.name}: ${verdict ?? 'the generated client compiles and its calls succeed'}\n`,
    );
    if (verdict !== null) complaints.push(`${generator.name}: ${verdict}`);
  }
  return complaints;
}

/** Returns the problem, or null. */
async function judge(generator: Generator, apiKey: string): Promise<string | null> {
  // The folder is next to node_modules, so that Node finds the packages.
  const place = await mkdtemp(join(folder, '.generated-'));
  try {
    const [program, ...args] = generator.command;
    const main = generator.types + growth + generator.program;
    const files = { ...generator.files, 'main.ts': main, ...settings };
    await mkdir(place, { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeFile(join(place, name), text);
    const options = { cwd: place, timeout: generateMsMax, env: { ...process.env, ANIMAL_STORE_KEY: apiKey } };
    await run(join(folder, 'node_modules/.bin', program), args, options);
    await run(join(folder, 'node_modules/.bin/tsc'), ['-p', '.'], options);
    const { stdout } = await run(process.execPath, ['built/main.js'], options);
    return stdout === '201 Rex 201\n' ? null : `the program prints ${stdout}`;
  } catch (error) {
    const { message, stdout = '' } = error as Error & { readonly stdout?: string };
    return `${message}\n${stdout}`;
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

const settings = {
  'package.json': '{ "type": "module" }',
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      target: 'es2022',
      module: 'nodenext',
      lib: ['es2022', 'dom', 'dom.iterable'],
      types: ['node'],
      strict: true,
      outDir: 'built',
      skipLibCheck: true,
    },
    files: ['main.ts'],
  }),
};
