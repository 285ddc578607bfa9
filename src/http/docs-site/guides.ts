import { readFile } from 'node:fs/promises';
import { errorCodes, errorStatus } from '../../errors.ts';
import { nameOperation, type Operation } from '../operation.ts';
import type { Page } from './frame.ts';
import { type Installation, tellAddresses } from './installation.ts';
import { renderDocument } from './markdown.ts';
import { html, type Markup, trusted } from './markup.ts';

/**
 * The documents that are served, in the order of the navigation. `name` is the path below `/docs/`, and `searchWords` are
 * words that readers type who look for the page.
 */
export const guides = [
  {
    name: 'getting-started',
    path: 'docs/getting-started.md',
    title: 'Quickstart',
    group: 'Start',
    searchWords: 'curl start hello first request tutorial base url',
  },
  {
    name: 'authentication',
    path: 'docs/keys.md',
    title: 'Authentication',
    group: 'Start',
    searchWords: 'api key keys token bearer scope scopes permissions rotate secret login',
  },
  {
    name: 'environments',
    path: 'docs/environments.md',
    title: 'Environments',
    group: 'Start',
    searchWords: 'sandbox staging production development live test address base url',
  },
  {
    name: 'client',
    path: 'client/README.md',
    title: 'TypeScript client',
    group: 'Start',
    searchWords: 'sdk library npm javascript node typescript',
  },
  {
    name: 'python-client',
    path: 'client-python/README.md',
    title: 'Python client',
    group: 'Start',
    searchWords: 'sdk library pip python',
  },
  {
    name: 'pages',
    path: 'docs/pages.md',
    title: 'Pagination',
    group: 'Guides',
    searchWords: 'paging pagination page cursor next link',
  },
  {
    name: 'idempotency',
    path: 'docs/idempotency.md',
    title: 'Idempotency',
    group: 'Guides',
    searchWords: 'retry retries duplicate double twice',
  },
  {
    name: 'changing-animals',
    path: 'docs/changing-animals.md',
    title: 'Changing animals',
    group: 'Guides',
    searchWords: 'update edit patch delete etag concurrency if-match category',
  },
  {
    name: 'orders',
    path: 'docs/orders.md',
    title: 'Orders',
    group: 'Guides',
    searchWords: 'buy purchase reserve reservation hold checkout sell payment',
  },
  {
    name: 'events',
    path: 'docs/events.md',
    title: 'Events',
    group: 'Guides',
    searchWords: 'feed stream polling long poll mirror sync changes',
  },
  {
    name: 'webhooks',
    path: 'docs/webhooks.md',
    title: 'Webhooks',
    group: 'Guides',
    searchWords:
      'webhook callback notification push signature verify hmac localhost secret firewall allowlist ip',
  },
  {
    name: 'testing',
    path: 'docs/testing.md',
    title: 'Test your integration',
    group: 'Guides',
    searchWords: 'sandbox tunnel localhost listen trigger mock fake unit test simulate ngrok',
  },
  {
    name: 'limits',
    path: 'docs/limits.md',
    title: 'Limits and backoff',
    group: 'Guides',
    searchWords: 'rate limit throttle quota backoff ban plan',
  },
  {
    name: 'errors',
    path: 'docs/errors.md',
    title: 'Errors',
    group: 'Guides',
    searchWords: 'error codes status failure exception failed requests request id debug',
  },
  {
    name: 'deprecations',
    path: 'docs/deprecations.md',
    title: 'Versions and deprecation',
    group: 'Guides',
    searchWords: 'versioning version compatibility sunset breaking',
  },
  {
    name: 'changelog',
    path: 'docs/interface-changes.md',
    title: 'Changelog',
    group: 'Guides',
    searchWords: 'release notes news history atom rss',
  },
] as const;

type Guide = (typeof guides)[number];

/** The heading at which the part of a document for operators begins. The page ends before it. */
const operatorPart = '## What is kept';

const root = new URL('../../../', import.meta.url);
/** The address of a service with default settings, as the documents contain it. A page has that of its service. */
const usualUrl = 'http://127.0.0.1:8080/';
const contentsMin = 3;

/** The changes of a release that has no date yet. The feed of the changelog cannot have them, so the page has none either. */
const undatedPart = /\n## Unreleased\n(?:(?!## ).*\n)*/;

/**
 * Renders the page of a guide for an installation. It links to the operations that it mentions, and lists those that name it.
 * Throws if the document links to one that is not served.
 */
export async function readGuide(
  guide: Guide,
  installation: Installation,
  operations: readonly Operation[],
): Promise<Page> {
  const { name, path, title, group, searchWords } = guide;
  const document = new URL(path, root);
  const [text = ''] = (await readFile(document, 'utf8')).split(`\n${operatorPart}`, 1);
  const told = tellAddresses(text.replace(undatedPart, '\n'), installation);
  const served = told.replaceAll(usualUrl, new URL('.', installation.baseUrl).href);
  const found = name === 'errors' ? nameOwnRequests(served) : served;
  const linked = found.replaceAll(/\]\(([^)\s]+)\)/g, (_, href) => `](${toAddress(href, document)})`);
  // The README of a client begins with the name of its package.
  const titled = linked.replace(/^# .*/, `# ${title}`);
  const markdown = linkOperations(titled, operations) + listOperations(operations, name);
  const article = renderDocument(markdown);
  const content = html`<article class="guide">${article}</article>${renderContents(article)}`;
  return { path: name, title, group, searchWords, content, markdown };
}

/** The statuses of requests that no account has: those without a valid key, and those that are not readable as HTTP. */
const statusesOfNobody: readonly number[] = [401, 408, 431];

/** Says at the end of the section of each error code how to list the requests of the account that failed with it. */
function nameOwnRequests(text: string): string {
  return text.replaceAll(/^### (\w+)\n(?:(?!#).*\n)*/gm, (section: string, name: string) => {
    const code = errorCodes.find((known) => known === name);
    if (code === undefined || statusesOfNobody.includes(errorStatus[code])) return section;
    const path = `GET /account/requests?code=${code}`;
    return `${section.trimEnd()}\n\nYour requests with this code: [\`${path}\`](#find-your-failed-requests)\n\n`;
  });
}

/** Matches a block of code, a heading, a link, or a method and a path as code. */
const mentions = /^```.*?^```$|^#[^\n]*|\[[^\]]*\]\([^)]*\)|`([A-Z]+ \/[^`]*)`/gms;

/** Makes links of the operations that a text mentions as code, such as `GET /pets`. */
function linkOperations(text: string, operations: readonly Operation[]): string {
  return text.replaceAll(mentions, (whole, mention?: string) => {
    const found = operations.find(
      ({ method, path }) => `${method} ${path}` === mention?.replace(' /v1/', ' /'),
    );
    return found === undefined ? whole : `[${whole}](reference/${nameOperation(found)})`;
  });
}

/** Lists the operations that name a guide as theirs. */
function listOperations(operations: readonly Operation[], name: string): string {
  const own = operations.filter(({ guide }) => guide === name);
  if (own.length === 0) return '';
  const entries = own.map(
    (operation) =>
      `- [\`${operation.method}\` ${operation.summary}](reference/${nameOperation(operation)})\n`,
  );
  return `\n## Operations\n\n${entries.join('')}`;
}

/** Renders the table of contents. Returns null if the guide has fewer than `contentsMin` sections. */
function renderContents({ markup }: Markup): Markup | null {
  const headings = [...markup.matchAll(/<h2 id="[^"]*">(<a [^>]*>.*?<\/a>)<\/h2>/g)];
  if (headings.length < contentsMin) return null;
  const entries = headings.map(([, link = '']) => html`<li>${trusted(link)}</li>`);
  return html`<aside class="contents" aria-label="On this page"><p>On this page</p><ul>${entries}</ul></aside>`;
}

/** Converts a link between documents into a link between pages. */
function toAddress(href: string, document: URL): string {
  if (/^(?:#|[a-z]+:)/.test(href)) return href;
  const { href: target, hash } = new URL(href, document);
  const guide = guides.find(({ path }) => new URL(path, root).href === target.replace(/#.*/, ''));
  if (guide === undefined) throw new Error(`${document.pathname}: the link ${href} does not lead to a guide`);
  return guide.name + hash;
}
