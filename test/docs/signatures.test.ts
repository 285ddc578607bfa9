import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { minuteMs } from '../../src/clock.ts';
import { generateSecret, signMessage, writeSecret } from '../../src/webhooks/sign-message.ts';
import { whyNoProgram } from '../support/programs.ts';
import { makeFolder } from '../support/service.ts';
import { findBlocks, readDocument } from './markdown.ts';

/** The programs that print the verdict of `verify` on each case of standard input, appended to the examples. */
const languages: Readonly<Record<string, { readonly command: readonly string[]; readonly program: string }>> =
  {
    python: {
      command: ['python3', 'verify.py'],
      program: `
import json, sys
for case in json.load(sys.stdin):
    print(str(verify(case["body"].encode(), case["headers"], case["secret"])).lower())
`,
    },
    php: {
      command: ['php', 'verify.php'],
      program: `
foreach (json_decode(stream_get_contents(STDIN), true) as $case) {
    echo verify($case['body'], $case['headers'], $case['secret']) ? "true\\n" : "false\\n";
}
`,
    },
    ruby: {
      command: ['ruby', 'verify.rb'],
      program: `
require 'json'
JSON.parse($stdin.read).each { |one| puts verify(one['body'], one['headers'], one['secret']) }
`,
    },
    // A file of Go has its imports at its start, so the program is a file of its own.
    go: {
      command: ['go', 'run', 'verify.go', 'main.go'],
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
    ts: {
      command: ['node', 'verify.ts'],
      program: `
import { readFileSync } from 'node:fs';
for (const { body, headers, secret } of JSON.parse(readFileSync(0, 'utf8')))
  console.log(verify(Buffer.from(body), headers, secret));
`,
    },
  };

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

for (const [info, { command, program }] of Object.entries(languages)) {
  const [name = '', ...args] = command;
  test(`the ${info} example verifies only what the service signs`, {
    skip: await whyNoProgram(name, name === 'go' ? 'version' : '--version'),
  }, async (t) => {
    const [, section = ''] = (await readDocument('docs/webhooks.md')).split('## Verify without a library\n');
    const { code } = findBlocks(section).find((block) => block.info === info) ?? assert.fail();
    const folder = await makeFolder(t);
    const [example = '', main] = args.filter((arg) => arg.includes('.'));
    await writeFile(join(folder, example), main === undefined ? code + program : code);
    if (main !== undefined) await writeFile(join(folder, main), program);
    const cases = listCases(Date.now());
    const { stdout, stderr } = spawnSync(name, args, { cwd: folder, input: JSON.stringify(cases) });
    const expected = cases.map(({ isGenuine }) => `${isGenuine}\n`).join('');
    assert.equal(String(stdout), expected, String(stderr));
  });
}
