import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { toText } from '../../src/http/docs-site/markup.ts';
import { untilRendered } from '../support/documentation.ts';
import { whyNoPython } from '../support/python.ts';
import { makeFolder } from '../support/service.ts';
import { type Command, type ExampleService, enterFolder, startExampleService } from './example-service.ts';
import { type Block, findBlocks, listDocuments, readDocument } from './markdown.ts';

/**
 * How many lines of commands of a page are not run, because they install packages, run forever or need another machine.
 * Those about PostgreSQL have tests of their own.
 */
const unrun: Readonly<Record<string, number>> = {
  'CONTRIBUTING.md': 5,
  'README.md': 1,
  'docs/console.md': 1,
  'docs/operations/backup-and-restore.md': 13,
  'docs/operations/high-availability.md': 2,
  'docs/operations/install.md': 4,
  'docs/operations/monitor.md': 2,
  'docs/operations/operators.md': 1,
  'docs/operations/postgresql.md': 3,
};

/**
 * The known kinds of blocks. A `text` block is neither a command nor a program, for example the format of a header. A
 * `sql` block has a test in restore-postgres.test.ts or least-rights.test.ts, and PHP, Ruby and Go in signatures.test.ts.
 */
const knownInfo = /^(?:sh|ts|json|sql|sh no-run|text|python|php|ruby|go)$/;

interface Example extends Block {
  readonly path: string;
}

/** The examples of the pages at the root and in `docs/`. READMEs in other folders have their own tests. */
const examples: Example[] = [];
for (const path of await listDocuments())
  if (/^(?:docs\/.+|[^/]+)$/.test(path))
    for (const block of findBlocks(await readDocument(path))) examples.push({ path, ...block });

async function toCommand({ path, line, info, code }: Example, service: ExampleService): Promise<Command> {
  const name = `${path}:${line}`;
  if (info === 'sh') return { name, code: service.adapt(code) };
  const [program, ending] = info === 'ts' ? ['node', 'ts'] : [pythonWithClient, 'py'];
  const file = `example-${line}.${ending}`;
  // The sources of the client, as no example installs its package.
  const local = code.replace("'@animal-store/client'", "'./client/src/index.ts'");
  await writeFile(join(service.folder, file), service.adapt(local));
  return { name, code: `${program} ${file}` };
}

const pythonWithClient = 'PYTHONPATH=client-python PYTHONDONTWRITEBYTECODE=1 python3';
const noPython = await whyNoPython();
if (noPython !== false) process.stderr.write(`the examples in Python: ${noPython}\n`);
const runKinds = new Set(noPython === false ? ['sh', 'ts', 'python'] : ['sh', 'ts']);

for (const [path, own = []] of Map.groupBy(examples, ({ path }) => path)) {
  const run = own.filter(({ info }) => runKinds.has(info));
  if (run.length === 0) continue;
  test(`the examples of ${path} run and print the shown output`, async (t) => {
    const service = await startExampleService(t);
    const commands = await Promise.all(run.map((example) => toCommand(example, service)));
    const printed = await service.run(commands);
    for (const [index, example] of run.entries()) {
      const next = own[own.indexOf(example) + 1];
      if (next?.info !== 'json') continue;
      assert.deepEqual(JSON.parse(printed[index] ?? ''), JSON.parse(next.code), `${path}:${next.line}`);
    }
  });
}

test('every example is of a known kind and valid', () => {
  for (const { path, info, code, line } of examples) {
    assert.match(info, knownInfo, `${path}:${line}`);
    if (info === 'json') assert.doesNotThrow(() => JSON.parse(code), `${path}:${line}`);
  }
});

test('every shown command is run, except for a fixed number on each page', () => {
  const found: Record<string, number> = {};
  for (const { path, info, code } of examples)
    if (info === 'sh no-run') found[path] = (found[path] ?? 0) + code.trim().split('\n').length;
  assert.deepEqual(found, unrun);
});

test('the line that the first start prints adds an animal and lists it', async (t) => {
  const service = await startExampleService(t);
  const [line = ''] = /^ *curl .*$/m.exec(service.welcome) ?? [];
  const [shown, listed = ''] = await service.run([
    { name: 'the line', code: line },
    { name: 'npx', code: 'npx animal-store keys list --json' },
  ]);
  const rex = '{"id":1,"name":"Rex","categoryId":1,"status":"available"}';
  assert.equal(shown, `${rex}[${rex}]`);
  assert.match(service.welcome, /^Documentation: http:\/\/127\.0\.0\.1:\d+\/docs$/m);
  assert.ok(service.key.startsWith(JSON.parse(listed)[0].start));
});

/** Returns the code blocks of a page in order, as a reader copies them. */
async function readBlocks(address: string) {
  const html = await (await fetch(address)).text();
  const blocks = html.matchAll(/data-language="(\w*)"><code>(.*?)<\/code>/gs);
  return Array.from(blocks, ([, language = '', code = '']) => ({ language, code: toText(code) }));
}

test('the quickstart prints the shown output if a partner copies its blocks from the page', async (t) => {
  const service = await startExampleService(t);
  await untilRendered(service.adapt('http://127.0.0.1:8080'));
  const blocks = await readBlocks(service.adapt('http://127.0.0.1:8080/docs/getting-started'));
  const commands = blocks.filter(({ language }) => language === 'sh');
  assert.equal(commands.length, 5);
  const printed = await service.run([
    { name: 'an empty folder', code: enterFolder(await makeFolder(t)) },
    // A partner replaces only the key.
    ...commands.map(({ code }, index) => ({
      name: `block ${index + 1}`,
      code: code.replace('as_dev_…', service.key),
    })),
  ]);
  let shown = 0;
  for (const [index, { language, code }] of blocks.entries()) {
    const before = blocks[index - 1];
    if (language === 'sh' || before === undefined) continue;
    const output = printed[commands.indexOf(before) + 1] ?? '';
    if (language === 'json') assert.deepEqual(JSON.parse(output), JSON.parse(code));
    else assert.equal(output.trim(), code.trim());
    shown += 1;
  }
  assert.equal(shown, 3);
});
