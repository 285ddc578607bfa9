import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { type Ending, makeFolder } from '../support/service.ts';
import { listHelp, unopened } from './list-commands.ts';
import { runInProcess } from './run-command-line.ts';

type Shell = 'bash' | 'zsh' | 'fish';

function isThere(shell: Shell): boolean {
  return spawnSync(shell, ['-c', 'exit 0']).status === 0;
}

/** Returns the completions that a shell offers for a line. The script is installed as a user would install it. */
async function complete(test: Ending, shell: Shell, line: string): Promise<string[]> {
  const folder = await makeFolder(test);
  await mkdir(join(folder, 'animals'));
  const { code, stdout: script } = await runInProcess(['completion', shell], unopened);
  assert.equal(code, 0);
  await writeFile(join(folder, 'script'), script);
  const { stdout, stderr, status } = spawnSync(shell, ['-c', askers[shell](line)], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, TERM: 'dumb' },
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  return stdout
    .split('\n')
    .map((word) => word.replace(/\t.*/, '').replace(/^--[\w-]+=/, ''))
    .filter((word) => word !== '');
}

const askers: Readonly<Record<Shell, (line: string) => string>> = {
  // Lists files if the script sets bash's option for file names and offers no word, as bash does.
  bash: (line) => `source ./script
    COMP_WORDS=(${line.replaceAll(/[:=]/g, ' $& ')}${line.endsWith(' ') ? " ''" : ''})
    COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
    compopt() { options="$*"; }
    $(complete -p animal-store | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
    if [[ $options == '-o default' && \${#COMPREPLY[@]} == 0 ]]; then
      COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
    fi
    printf '%s\\n' "\${COMPREPLY[@]}"`,
  // Replaces functions of zsh by stubs that print the completions.
  zsh: (line) => `compdef() { : }
    _files() { print -rl -- $words[CURRENT]*(N) }
    _describe() {
      local offer
      for offer in "\${(@P)2}"; do
        offer=\${offer//\\\\:/@} offer=\${offer%%:*} offer=\${offer//@/:}
        [[ $offer == $words[CURRENT]* ]] && print -r -- "$offer"
      done
      return 0
    }
    compset() { words[CURRENT]=\${words[CURRENT]#*=} }
    source ./script
    words=(${line}${line.endsWith(' ') ? " ''" : ''})
    CURRENT=$#words
    _animal_store`,
  fish: (line) => `source ./script; complete -C '${line}'`,
};

/** bash completes only the part after the last colon. The other shells replace the whole word. */
const scopesAfterColon: Readonly<Record<Shell, readonly string[]>> = {
  bash: ['read', 'write', 'manage'],
  zsh: ['pets:read', 'pets:write', 'pets:manage'],
  fish: ['pets:read', 'pets:write', 'pets:manage'],
};

for (const shell of ['bash', 'zsh', 'fish'] as const)
  describe(`completion in ${shell}`, { skip: !isThere(shell) && `${shell} is not installed` }, () => {
    const expectWords = (line: string, words: readonly string[]) =>
      test(`"${line}" completes to ${words.join(', ') || 'nothing'}`, async (t) => {
        assert.deepEqual((await complete(t, shell, line)).sort(), [...words].sort());
      });

    expectWords('animal-store keys cr', ['create']);
    expectWords('animal-store comp', ['completion']);
    expectWords('animal-store accounts set-plan --plan ', ['free', 'pro', 'business', 'enterprise']);
    expectWords('animal-store keys create --plan pro --sc', ['--scopes']);
    expectWords('animal-store keys create --per-minute ', []);
    expectWords('animal-store completion f', ['fish']);
    expectWords('animal-store accounts set-plan --plan=', ['free', 'pro', 'business', 'enterprise']);
    expectWords('animal-store accounts set-plan --plan=f', ['free']);
    expectWords('animal-store keys create --scopes p', ['pets:read', 'pets:write', 'pets:manage']);
    expectWords('animal-store keys create --scopes pets:r', [shell === 'bash' ? 'read' : 'pets:read']);
    expectWords('animal-store keys create --scopes=pets:', scopesAfterColon[shell]);

    for (const [line, files] of [
      ['animal-store import ', ['animals', 'script']],
      ['animal-store import an', ['animals']],
      ['animal-store backup ', ['animals', 'script']],
      ['animal-store export --output ', ['animals', 'script']],
    ] as const)
      test(`"${line}" completes only to files`, async (t) => {
        const words = await complete(t, shell, line);
        assert.deepEqual(words.map((word) => word.replace(/\/$/, '')).sort(), files);
      });

    test('a dash in place of a file completes to the options', async (t) => {
      const words = await complete(t, shell, 'animal-store import -');
      assert.ok(words.includes('--format'), words.join());
      assert.ok(!words.includes('animals'), words.join());
    });
  });

test('every command and option that help shows is in each script', async () => {
  const pages = await listHelp();
  const options = pages.flatMap(({ text }) =>
    Array.from(text.matchAll(/^ {2}(?:-\w, )?--([\w-]+)/gm), ([, word]) => word),
  );
  const words = new Set([...pages.flatMap(({ command }) => command), ...options]);
  assert.ok(words.size > 25);
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout } = await runInProcess(['completion', shell], unopened);
    for (const word of words) assert.match(stdout, new RegExp(`\\b${word}\\b`), `${shell}: ${word}`);
  }
});

const hasTerminal = spawnSync('script', ['--version']).status === 0;

describe('the Tab key on a terminal', {
  skip: !(hasTerminal && isThere('bash')) && 'there is no script or no bash to make a terminal with',
}, () => {
  for (const [what, typed, called] of [
    ['a command', 'keys cr\t--plan fr\t', 'keys create --plan free'],
    ['a file without a typed part', 'import \t', 'import animals.csv'],
  ])
    test(`completes ${what}`, async (t) => {
      const folder = await makeFolder(t);
      const { stdout: written } = await runInProcess(['completion', 'bash'], unopened);
      await writeFile(join(folder, 'rc'), `${written}\nanimal-store() { echo "called:$*"; exit; }\n`);
      await mkdir(join(folder, 'animals'));
      await writeFile(join(folder, 'animals', 'animals.csv'), '');
      const child = spawn('script', ['-qefc', `bash --noprofile --rcfile ${folder}/rc -i`, '/dev/null'], {
        cwd: join(folder, 'animals'),
        env: { PATH: process.env['PATH'], HOME: folder, TERM: 'dumb' },
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      child.stdin.write(`animal-store ${typed}\n`);
      assert.match(await text(child.stdout), new RegExp(`^called:${called}\\r?$`, 'm'));
    });
});

test('completion for an unsupported shell is a usage error that names the supported shells', async () => {
  const { code, stderr } = await runInProcess(['completion', 'csh'], unopened);
  assert.equal(code, 2);
  assert.match(stderr, /Allowed choices are bash, zsh, fish/);
});

test('completion --json prints one JSON value', async () => {
  const { stdout } = await runInProcess(['completion', 'bash', '--json'], unopened);
  assert.partialDeepStrictEqual(JSON.parse(stdout), { shell: 'bash' });
});
