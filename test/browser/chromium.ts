import assert from 'node:assert/strict';
import { accessSync, constants } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { after, before, describe, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { refuseInCi } from '../support/programs.ts';

/** The headless shell comes first, because it renders the same and takes a third less CPU time. */
const knownPaths = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const noBrowser = 'SKIPPED: no Chromium for the tests; install one or name it in CHROMIUM_PATH';
const path = [process.env['CHROMIUM_PATH'], ...knownPaths].find(isExecutable);

/** The reason if this machine has no browser for tests, otherwise false. With CI=true, a missing browser is an error. */
export const skip = path === undefined ? refuseInCi(noBrowser) : false;

export function launchBrowser(): Promise<Browser> {
  const needed = '--headless --no-sandbox --no-first-run';
  const unneeded = ['gpu', 'quic', 'background-networking', 'component-update', 'sync'];
  const args = [...needed.split(' '), ...unneeded.map((part) => `--disable-${part}`)];
  return chromium.launch({ executablePath: path ?? '', args });
}

/**
 * Declares tests that share a browser. They are skipped if this machine has none. `declare` gets a function that returns
 * the browser once the tests run.
 */
export function describeInBrowser(title: string, declare: (browser: () => Browser) => void): void {
  describe(title, { skip }, () => {
    let browser: Browser;
    before(async () => {
      browser = await launchBrowser();
    });
    after(() => browser.close());
    declare(() => browser);
  });
}

/** Opens a page in a new browser context, which is closed after the test. Returns it with its requests and problems. */
export async function openVisit(
  test: Pick<TestContext, 'after'>,
  browser: Browser,
  options: BrowserContextOptions = {},
) {
  const page = await browser.newPage(options);
  test.after(() => page.close());
  // A busy machine needs more time.
  page.setDefaultTimeout(120_000);
  /** The URLs of all requests, in order, but for the page's icon: each version of a browser asks for it when it likes. */
  const requests: string[] = [];
  /** Problems that the browser reported: script errors, policy violations, failed requests. */
  const complaints: string[] = [];
  page.on('request', (request) => {
    if (!request.url().endsWith('/icon.svg')) requests.push(request.url());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  return { page, requests, complaints };
}

function isExecutable(candidate: string | undefined): candidate is string {
  try {
    accessSync(candidate ?? '', constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Throws if axe-core finds a violation of WCAG 2.2 AA or of axe-core's best practices. */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  await page.evaluate(axe);
  const found = (await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => id + ': ' + html + ': ' + failureSummary)))`,
  )) as string[];
  assert.deepEqual(found, [], what);
}
