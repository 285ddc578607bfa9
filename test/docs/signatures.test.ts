import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { minuteMs } from '../../src/clock.ts';
import { generateSecret, signMessage, writeSecret } from '../../src/webhooks/sign-message.ts';
import { findBlocks, readDocument } from './markdown.ts';

/** How a language runs a file, and the program that prints the verdict of `verify` on each case of standard input. */
interface Language {
  readonly info: string;
  readonly version: readonly [command: string, ...args: string[]];
  readonly file: string;
  readonly run: (file: string) => readonly [command: string, ...args: string[]];
  /** Is appended to the example, or stands in a file beside it. */
  readonly program: string;
  readonly programFile?: string;
}

const languages: readonly Language[] = [
  {
    info: 'python',
    version: ['python3', '--version'],
    file: 'verify.py',
    run: (file) => ['python3', file],
    program: `
import json, sys
for case in json.load(sys.stdin):
    print(str(verify(case["body"].encode(), case["headers"], case["secret"])).lower())
`,
  },
  {
    info: 'php',
    version: ['php', '--version'],
    file: 'verify.php',
    run: (file) => ['php', file],
    program: `
foreach (json_decode(stream_get_contents(STDIN), true) as $case) {
    echo verify($case['body'], $case['headers'], $case['secret']) ? "true\\n" : "false\\n";
}
`,
  },
  {
    info: 'ruby',
    version: ['ruby', '--version'],
    file: 'verify.rb',
    run: (file) => ['ruby', file],
    program: `
require 'json'
JSON.parse($stdin.read).each { |one| puts verify(one['body'], one['headers'], one['secret']) }
`,
  },
  {
    info: 'go',
    version: ['go', 'version'],
    file: 'verify.go',
    run: (file) => ['go', 'run', file, file.replace('verify.go', 'main.go')],
    programFile: 'main.go',
    program: `package main
import ("encoding/json"; "fmt"; "net/http"; "os")
func main() {
	var cases []struct { Body, Secret string; Headers map[string]string }
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil { panic(err) }
	for _, one := range cases {
		headers := http.Header{}
		for name, value := range one.Headers { headers.Set(name, value) }
		fmt.Println(verify([]byte(one.Body), headers, one.Secret))
	}
}
`,
  },
  {
    info: 'ts',
    version: ['node', '--version'],
    file: 'verify.ts',
    run: (file) => ['node', file],
    program: `
import { readFileSync } from 'node:fs';
for (const { body, headers, secret } of JSON.parse(readFileSync(0, 'utf8')))
  console.log(verify(Buffer.from(body), headers, secret));
`,
  },
];

const [own, other] = [generateSecret(), generateSecret()];
const message = { id: 'evt_7', body: '{"id":"evt_7","type":"pet.added","data":{"name":"Ünïcode"}}' };

/** What a receiver may get, and whether it is genuine. */
function listCases(nowMs: number) {
  const sign = (atMs: number, secrets = [own]) => signMessage(message, secrets, atMs);
  const base = { body: message.body, headers: sign(nowMs), secret: writeSecret(own) };
  return [
    { ...base, isGenuine: true },
    { ...base, headers: sign(nowMs, [other, own]), isGenuine: true },
    { ...base, headers: sign(nowMs, [other]), isGenuine: false },
    { ...base, body: `${message.body} `, isGenuine: false },
    { ...base, headers: { ...base.headers, 'webhook-id': 'evt_8' }, isGenuine: false },
    { ...base, headers: { ...base.headers, 'webhook-timestamp': 'now' }, isGenuine: false },
    { ...base, headers: { ...base.headers, 'webhook-signature': 'v1,é' }, isGenuine: false },
    { ...base, headers: sign(nowMs - 60 * minuteMs), isGenuine: false },
    { ...base, headers: sign(nowMs + 60 * minuteMs), isGenuine: false },
    { ...base, headers: {}, isGenuine: false },
  ];
}

function run([command, ...args]: readonly [string, ...string[]], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, (error, stdout) => (error ? reject(error) : resolve(stdout)));
    child.stdin?.end(input);
  });
}

/** Returns false if the language is installed, otherwise the reason. With CI=true, throws instead. */
async function whyNot({ version, info }: Language): Promise<string | false> {
  const found = await run(version, '').catch(() => null);
  if (found !== null) return false;
  const reason = `SKIPPED: ${info} is not installed`;
  if (process.env['CI'] === 'true') throw new Error(reason);
  return reason;
}

for (const language of languages) {
  const { info, file, program, programFile } = language;
  const skip = await whyNot(language);
  test(`the ${info} example verifies what the service signs, and nothing else`, { skip }, async (t) => {
    const [, section = ''] = (await readDocument('docs/webhooks.md')).split('## Verify without a library\n');
    const example = findBlocks(section).find((block) => block.info === info);
    assert.ok(example);
    const folder = await mkdtemp(join(tmpdir(), 'animal-store-signatures-'));
    t.after(() => rm(folder, { recursive: true }));
    const path = join(folder, file);
    await writeFile(path, programFile === undefined ? example.code + program : example.code);
    if (programFile !== undefined) await writeFile(join(folder, programFile), program);
    const cases = listCases(Date.now());
    const printed = await run(language.run(path), JSON.stringify(cases));
    assert.deepEqual(
      printed.trim().split('\n'),
      cases.map(({ isGenuine }) => String(isGenuine)),
    );
  });
}
