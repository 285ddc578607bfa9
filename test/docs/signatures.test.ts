import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { minuteMs } from '../../src/clock.ts';
import { generateSecret, signMessage, writeSecret } from '../../src/webhooks/secrets.ts';
import { makeFolder } from '../support/service.ts';
import { findBlocks, readDocument } from './markdown.ts';

/** A language of the examples, and the program that prints the verdict of `verify` on each case of standard input. */
interface Language {
  readonly info: string;
  readonly command: string;
  readonly version: string;
  readonly args: readonly string[];
  /** Is appended to the example, or stands in a file beside it. */
  readonly program: string;
  readonly programFile?: string;
}

const languages: readonly Language[] = [
  {
    info: 'python',
    command: 'python3',
    version: '--version',
    args: ['verify.py'],
    program: `
import json, sys
for case in json.load(sys.stdin):
    print(str(verify(case["body"].encode(), case["headers"], case["secret"])).lower())
`,
  },
  {
    info: 'php',
    command: 'php',
    version: '--version',
    args: ['verify.php'],
    program: `
foreach (json_decode(stream_get_contents(STDIN), true) as $case) {
    echo verify($case['body'], $case['headers'], $case['secret']) ? "true\\n" : "false\\n";
}
`,
  },
  {
    info: 'ruby',
    command: 'ruby',
    version: '--version',
    args: ['verify.rb'],
    program: `
require 'json'
JSON.parse($stdin.read).each { |one| puts verify(one['body'], one['headers'], one['secret']) }
`,
  },
  {
    info: 'go',
    command: 'go',
    version: 'version',
    args: ['run', 'verify.go', 'main.go'],
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
    command: 'node',
    version: '--version',
    args: ['verify.ts'],
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

/** Returns false if the language is installed, otherwise the reason. With CI=true, throws instead. */
function whyNot({ command, version, info }: Language): string | false {
  if (spawnSync(command, [version]).status === 0) return false;
  const reason = `SKIPPED: ${info} is not installed`;
  if (process.env['CI'] === 'true') throw new Error(reason);
  return reason;
}

for (const language of languages) {
  const { info, command, args, program, programFile } = language;
  test(`the ${info} example verifies what the service signs, and nothing else`, {
    skip: whyNot(language),
  }, async (t) => {
    const [, section = ''] = (await readDocument('docs/webhooks.md')).split('## Verify without a library\n');
    const { code } = findBlocks(section).find((block) => block.info === info) ?? assert.fail();
    const folder = await makeFolder(t);
    const file = args.find((arg) => arg.startsWith('verify.')) ?? '';
    await writeFile(join(folder, file), programFile === undefined ? code + program : code);
    if (programFile !== undefined) await writeFile(join(folder, programFile), program);
    const cases = listCases(Date.now());
    const { stdout, stderr } = spawnSync(command, args, { cwd: folder, input: JSON.stringify(cases) });
    const expected = cases.map(({ isGenuine }) => `${isGenuine}\n`).join('');
    assert.equal(String(stdout), expected, String(stderr));
  });
}
