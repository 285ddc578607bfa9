/** Makes the picture of the first minute that README.md shows: it runs the commands of README.md in a fresh clone. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { openVisit } from '../test/browser/chromium.ts';
import { findBlocks, readDocument, root } from '../test/docs/markdown.ts';
import { makeFolder } from '../test/support/service.ts';
import { takePictures, withBrowser } from './take-pictures.ts';

const minuteMs = 60_000;

await withBrowser(async ({ browser, test }) => {
  const clone = await makeFolder(test);
  execFileSync('git', ['clone', '--quiet', root, clone]);
  const commands = findBlocks(await readDocument('README.md'))
    .filter(({ info }) => info.split(' ')[0] === 'sh')
    .map(({ code }) => code.trim());
  const [start = '', setKey = '', add = '', list = ''] = commands;

  const service = startIn(clone, start);
  test.after(service.stop);
  const key = await service.untilShown(/as_dev_\w+/);
  await service.untilShown(/serving http\S+/);
  const prepared = setKey.replace('as_dev_…', key);
  const runInShell = (command: string) =>
    execFileSync('bash', ['-c', `${prepared}\n${command}`], { cwd: clone, encoding: 'utf8' });
  const second = [add, list].map((command) => `${asTyped(command)}\n${runInShell(command).trim()}`);

  const screens = [`${asTyped(start)}\n${service.read()}`, [asTyped(setKey), ...second].join('\n\n')];
  const { page } = await openVisit(test, browser, { viewport: { width: 980, height: 400 } });
  await takePictures(page, 'first-minute', async () => {
    await page.setContent(
      drawScreens(screens.map((text) => shorten(text.replaceAll(key, 'as_dev_…'), clone))),
    );
    const height: number = await page.evaluate('document.documentElement.scrollHeight');
    await page.setViewportSize({ width: 980, height });
  });
});

/** Runs a command on a terminal of its own, as a person sees it. */
function startIn(folder: string, command: string) {
  const child = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let shown = '';
  const listeners = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += stripVTControlCharacters(text).replaceAll('\r', '');
    for (const listener of listeners) listener();
  });
  return {
    read: () => shown.trim(),
    /** Resolves with the first match once the terminal shows it. Rejects after three minutes. */
    untilShown: (pattern: RegExp) =>
      new Promise<string>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no ${pattern} in:\n${shown}`)), 3 * minuteMs);
        const look = () => {
          const found = pattern.exec(shown)?.[0];
          if (found === undefined) return;
          clearTimeout(timer);
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        look();
      }),
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

function asTyped(command: string): string {
  return `$ ${command.replaceAll('\n', '\n  ')}`;
}

/** Returns the text without the spinner of npm, and without the path of the clone. */
function shorten(text: string, clone: string): string {
  const lines = text.replaceAll(clone, '~/animal-store').split('\n');
  return lines.filter((line) => !/^[⠀-⣿\\|/-]*$/.test(line) || line === '').join('\n');
}

function drawScreens(screens: readonly string[]): string {
  const escaped = screens.map((text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;'));
  const typed = escaped.map((text) => text.replaceAll(/^\$ .*(?:\n {2}.*)*/gm, '<b>$&</b>'));
  return `<!doctype html><style>
    :root { color-scheme: light dark; }
    body { margin: 0; padding: 16px; background: light-dark(#ffffff, #0d1117); }
    pre { margin: 0 0 16px; padding: 16px; border-radius: 8px; white-space: pre-wrap; overflow-wrap: anywhere;
      font: 13px/1.5 'DejaVu Sans Mono', monospace; color: light-dark(#24292f, #e6edf3);
      background: light-dark(#f6f8fa, #161b22); border: 1px solid light-dark(#d0d7de, #30363d); }
    pre:last-child { margin-bottom: 0; }
    b { color: light-dark(#0550ae, #79c0ff); font-weight: 600; }
  </style>${typed.map((text) => `<pre>${text}</pre>`).join('')}`;
}
