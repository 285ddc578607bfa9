import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { eventTypes } from '../../../src/events/event.ts';
import { operations } from '../../../src/http/api/operations.ts';
import { guides } from '../../../src/http/docs-site/guides.ts';
import { toText } from '../../../src/http/docs-site/markup.ts';
import { createDocsRoutes } from '../../../src/http/docs-site/routes.ts';
import { nameOperation } from '../../../src/http/operation.ts';
import type { Call } from '../../../src/http/route.ts';
import { findLinks, readDocument } from '../../docs/markdown.ts';
import { untilRendered } from '../../support/documentation.ts';
import { expectHeaders } from '../../support/expect-error.ts';
import { formatRequest, openRaw } from '../../support/raw-http.ts';
import { startService } from '../../support/service.ts';

const { app } = await startService({ after });
await untilRendered(app.url);

const addresses = [
  ...['/docs', '/docs/reference/headers', '/docs/reference/event-types'],
  ...operations.map((operation) => `/docs/reference/${nameOperation(operation)}`),
  ...guides.map(({ name }) => `/docs/${name}`),
];
const unknown = [
  '/docs/nothing',
  '/docs/nothing/at/all',
  '/docs/nothing/at/orders',
  '/docs/reference/nothing',
  '/docs/client/nothing.tgz',
  '/docs/assets/nothing.js',
  '/docs/assets/..%2F..%2Fassets.ts',
];

/** Every page by its address. Each is fetched once, because readers have a rate limit too. */
const pages = new Map<string, { readonly response: Response; readonly html: string }>();
for (const address of [...addresses, ...unknown]) {
  const response = await fetch(app.url + address);
  pages.set(address, { response, html: await response.text() });
}
const read = (address: string) => pages.get(address)?.html ?? assert.fail(address);

function findAll(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found);
}

const assets = findAll(read('/docs'), /(?:src|href)="\.(\/docs\/assets\/[^"]*)"/g);

test('a page is served without a key, with the rate limit of readers', () => {
  for (const address of addresses) {
    const { response } = pages.get(address) ?? assert.fail();
    assert.equal(response.status, 200, address);
    expectHeaders(response, { 'content-type': 'text/html; charset=utf-8', 'x-ratelimit-limit': '600' });
  }
});

test('the policy of a page allows neither inline code nor another server', () => {
  for (const address of addresses) {
    const policy = pages.get(address)?.response.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe|http|\*/);
  }
});

test('a page has no inline code', () => {
  for (const address of addresses)
    assert.doesNotMatch(read(address), /<style|\sstyle=|\son\w+=|<script(?! src=)/, address);
});

test('a page loads nothing from another server', () => {
  for (const address of addresses)
    for (const source of findAll(read(address), /<(?:link|script|img)[^>]* (?:src|href)="([^"]*)"/g))
      assert.match(source, /^\.\.?\//, address);
});

test('the anchors of a page are unique', () => {
  for (const address of addresses) {
    const anchors = findAll(read(address), / id="([^"]*)"/g);
    assert.deepEqual(anchors, [...new Set(anchors)], address);
  }
});

test('no page shows rounded bounds of int64', () => {
  for (const address of addresses) assert.doesNotMatch(read(address), /922,?337,?203,?685,?477,?6/, address);
});

test('every link of a page leads to an existing page and anchor', () => {
  let links = 0;
  for (const [address, { html }] of pages)
    for (const link of findAll(html, /<a [^>]*href="([^"]*)"/g)) {
      const { pathname, hash } = new URL(link, app.url + address);
      if (/^\/(?:openapi\.json)?$|\.(?:tgz|md|atom)$/.test(pathname)) continue;
      links += 1;
      const target = pages.get(pathname) ?? assert.fail(`${address}: ${pathname}`);
      if (hash !== '')
        assert.ok(target.html.includes(` id="${hash.slice(1)}"`), `${address}: ${pathname}${hash}`);
    }
  assert.ok(links > 1_000);
});

test('/docs links to the quickstart', () => {
  assert.match(read('/docs'), /<a href="\.\/docs\/getting-started">/);
});

test('/docs links to the page of the client', () => {
  assert.match(read('/docs'), /<a href="\.\/docs\/client"><span>TypeScript client<\/span><\/a>/);
});

test('the command on the page of the client installs the client from this service', async () => {
  const page = toText(read('/docs/client'));
  const [, tarball = ''] = /npm install (\S+\.tgz)/.exec(page) ?? [];
  assert.ok(tarball.startsWith(`${app.url}/docs/client/`));
  const answer = await fetch(tarball);
  assert.equal(answer.headers.get('content-type'), 'application/gzip');
  assert.ok((await answer.bytes()).length > 10_000);
  assert.ok(page.includes(`export ANIMAL_STORE_URL=${app.url}/v1\n`));
});

test('/llms.txt leads to every page as Markdown with links that work', async () => {
  const list = await fetch(`${app.url}/llms.txt`);
  assert.equal(list.headers.get('content-type'), 'text/plain; charset=utf-8');
  const found = findLinks(await list.text()).filter((link) => link.endsWith('.md'));
  const expected = addresses.map((address) => `${address === '/docs' ? '/docs/index' : address}.md`);
  assert.deepEqual(found.map((link) => new URL(link).pathname).sort(), expected.sort());
  for (const address of found) {
    const response = await fetch(address);
    assert.equal(response.headers.get('content-type'), 'text/markdown; charset=utf-8', address);
    const text = await response.text();
    assert.match(text, /^# /);
    for (const link of findLinks(text)) {
      const { pathname, origin } = new URL(link, address);
      if (origin !== app.url || /^\/(?:v1|openapi\.json)|\.(?:tgz|atom)$/.test(pathname)) continue;
      assert.ok(pages.has(pathname) || expected.includes(pathname), `${address}: ${link}`);
    }
  }
});

test('/llms.txt says what each page is about', async () => {
  const list = await (await fetch(`${app.url}/llms.txt`)).text();
  for (const line of findAll(list, /^- (.*)$/gm)) assert.match(line, /^\[[^\]]+\]\([^)]+\): \S.{9}/);
  for (const fact of [`${app.url}/v1`, 'Authorization: Bearer', 'int64'])
    assert.ok(list.includes(fact), fact);
});

test('/llms-full.txt has every page', async () => {
  const full = await (await fetch(`${app.url}/llms-full.txt`)).text();
  for (const { title } of guides) assert.ok(full.includes(`# ${title}\n`), title);
  for (const { summary } of operations) assert.ok(full.includes(`# ${summary}`), summary);
  for (const link of findLinks(full)) assert.match(link, /^(?:https?:|#|\.\.\/openapi\.json)/);
});

test('Accept chooses between a page and its Markdown', async () => {
  for (const [accept, type] of [
    ['text/markdown', 'text/markdown'],
    ['text/markdown, text/html;q=0.5', 'text/markdown'],
    ['text/html,text/markdown;q=0.9', 'text/html'],
    ['*/*', 'text/html'],
  ] as const) {
    const response = await fetch(`${app.url}/docs/orders`, { headers: { accept } });
    expectHeaders(response, { 'content-type': `${type}; charset=utf-8`, vary: 'Accept, Accept-Encoding' });
  }
});

test('a link of Markdown leads to Markdown', async () => {
  for (const path of ['index', 'orders', 'reference/create-pet', 'reference/event-types']) {
    const text = await (await fetch(`${app.url}/docs/${path}.md`)).text();
    for (const link of findLinks(text)) assert.match(link, /^(?:https?:|#)|\.(?:md|json)(?:#|$)/, path);
  }
});

test('a block of code shows the name of its file', () => {
  assert.match(read('/docs/python-client'), /<code>mirror\.py<\/code><\/p>\n<pre /);
});

test('each cell of a table names its column', () => {
  assert.match(read('/docs/errors'), /<td data-label="Status">401<\/td>/);
});

test('the links of the changelog feed are absolute', async () => {
  const feed = toText(await (await fetch(`${app.url}/docs/changelog.atom`)).text());
  const links = findAll(feed.replaceAll('&quot;', '"'), /href="([^"]*)"/g);
  for (const link of links) assert.ok(link.startsWith('http'), link);
});

test('the page of the changelog has only what its feed has', () => {
  assert.doesNotMatch(read('/docs/changelog'), /Unreleased/);
  assert.match(read('/docs/changelog'), /href="[^"]*\/docs\/changelog\.atom">its feed/);
});

test('a guide links to an operation that it mentions', () => {
  assert.match(read('/docs/orders'), /<a href="reference\/place-order"><code>POST \/orders<\/code>/);
});

test('a guide lists the operations that name it', () => {
  assert.match(read('/docs/orders'), /<h2 id="operations">.*<a href="reference\/return-order">/s);
});

test('an operation links to its guide', () => {
  assert.match(read('/docs/reference/place-order'), /Guide: <a href="\.\.\/orders">Orders<\/a>/);
});

test('a 404 page links to pages with a similar name', () => {
  assert.match(read('/docs/nothing/at/orders'), /<a href="\.\.\/\.\.\/\.\.\/docs\/orders">Orders<\/a>/);
});

test('the changelog for clients and its feed have the releases and dates of the changelog', async () => {
  const readReleases = async (path: string) => findAll(await readDocument(path), /^## (.*)$/gm);
  const releases = await readReleases('CHANGELOG.md');
  assert.deepEqual(await readReleases('docs/interface-changes.md'), releases);
  const response = await fetch(`${app.url}/docs/changelog.atom`);
  assert.equal(response.headers.get('content-type'), 'application/atom+xml; charset=utf-8');
  const feed = await response.text();
  const dated = releases.filter((release) => release !== 'Unreleased');
  assert.deepEqual(findAll(feed, /^<title>(\d.*)<\/title>$/gm), dated);
  const page = read('/docs/changelog');
  for (const anchor of findAll(feed, /<id>[^<]*#([^<]*)<\/id>/g))
    assert.ok(page.includes(` id="${anchor}"`), anchor);
  const [updated] = findAll(feed, /<updated>([^<]*)<\/updated>/g);
  assert.equal(updated, `${dated[0]?.slice(-10)}T00:00:00Z`);
});

test('a page with all that it loads is smaller than 60 KB when compressed', async () => {
  const sizeOf = async (address: string) => {
    const headers = { 'accept-encoding': 'gzip' };
    const response = await fetch(app.url + address, { method: 'HEAD', headers });
    assert.equal(response.headers.get('content-encoding'), 'gzip', address);
    return Number(response.headers.get('content-length'));
  };
  let common = 0;
  for (const asset of assets) common += await sizeOf(asset);
  for (const address of addresses) {
    const size = common + (await sizeOf(address));
    assert.ok(size < 60_000, `${address}: ${size} bytes`);
  }
});

test('the service colours each language of a sample', () => {
  const created = read('/docs/reference/create-pet');
  for (const coloured of [
    '<i class="name">curl</i>',
    '<i class="keyword">import</i> { AnimalStore } <i class="keyword">from</i>',
    '<i class="keyword">import</i> json\n',
    '<i class="member">&quot;name&quot;</i>: <i class="string">&quot;Rex&quot;</i>',
  ])
    assert.ok(created.includes(coloured), coloured);
});

test('the page of event types has a coloured example of each type', () => {
  const types = read('/docs/reference/event-types');
  for (const type of [...eventTypes, 'webhook.ping']) {
    assert.ok(types.includes(`<h2 id="${type.replace('.', '')}">`), type);
    assert.ok(types.includes(`<i class="string">&quot;${type}&quot;</i>`), type);
  }
});

test('the guides name PUBLIC_URL, or else the address of the service', async (t) => {
  const named = new Set(findAll(read('/docs/getting-started'), /(http:\/\/[\w.:]+)\/v1/g));
  assert.deepEqual([...named], [app.url]);
  const { app: shown } = await startService(t, { PUBLIC_URL: 'https://api.example.com/store/v1' });
  await untilRendered(shown.url);
  const response = await fetch(`${shown.url}/docs/getting-started`);
  const html = await response.text();
  assert.match(html, /https:\/\/api\.example\.com\/store\/v1/);
  assert.doesNotMatch(html, /127\.0\.0\.1/);
  const policy = response.headers.get('content-security-policy') ?? '';
  assert.match(policy, /(?:^|; )connect-src 'self' https:\/\/api\.example\.com;/);
  assert.equal(findAll(policy, /(http)/g).length, 1);
});

test('the pages show the addresses that the operator has set', async (t) => {
  assert.match(read('/docs/environments'), /<td[^>]*>Production<\/td>\s*<td[^>]*>ask the operator<\/td>/);
  assert.match(read('/docs/webhooks'), /ask the operator for the addresses/);
  const { app: shown } = await startService(t, {
    ENVIRONMENT: 'production',
    PUBLIC_URL: 'https://api.example.com/v1',
    OTHER_ENVIRONMENT_URL: 'https://staging.example.com/v1',
    WEBHOOK_SOURCE_NETWORKS: '192.0.2.1,2001:db8::/64',
  });
  await untilRendered(shown.url);
  const environments = await (await fetch(`${shown.url}/docs/environments.md`)).text();
  assert.match(environments, /^\| Production \| `https:\/\/api\.example\.com\/v1` \| `as_live_` \|$/m);
  assert.match(environments, /^\| Staging \| `https:\/\/staging\.example\.com\/v1` \| `as_stg_` \|$/m);
  const webhooks = await (await fetch(`${shown.url}/docs/webhooks.md`)).text();
  assert.match(webhooks, /sends webhooks: `192\.0\.2\.1`, `2001:db8::\/64`\./);
});

test('the guides omit the part for operators', () => {
  const html = read('/docs/limits');
  assert.match(html, /How a good client behaves/);
  assert.doesNotMatch(html, /REDIS_URL|benchmark|event loop/);
});

test('/, a path with a slash at its end and the name of a document redirect to their page, without a body', async (t) => {
  for (const [url, path, target] of [
    [app.url, '/', '/docs'],
    [app.url, '/docs/', '/docs'],
    [app.url, '/docs/keys', '/docs/authentication'],
    [app.url, '/docs/keys/', '/docs/authentication'],
    [app.url, '/docs/reference/list-pets/', '/docs/reference/list-pets'],
    [app.opsUrl, '/console/', '/console'],
  ] as const) {
    const connection = await openRaw(t, url);
    // The client of a redirect that does not state its length would wait for a body.
    connection.send(formatRequest(`GET ${path}`, { connection: 'keep-alive' }));
    const { status, headers } = await connection.read();
    assert.deepEqual([status, headers.get('content-length')], [301, '0'], path);
    assert.equal(new URL(headers.get('location') ?? '', url + path).href, url + target);
  }
});

const lateAssets = findAll(read('/docs'), /(?:data-search|data-engine)="\.(\/docs\/assets\/[^"]*)"/g);

test('an asset, which is named by its content, is immutable for caches', async () => {
  assert.deepEqual([assets.length, lateAssets.length], [3, 2]);
  for (const asset of [...assets, ...lateAssets]) {
    assert.match(asset, /\/[0-9a-f]{12}\/\w+\.(?:css|js|json|svg)$/);
    const response = await fetch(app.url + asset);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  }
});

test('an asset is compressed only for a client that accepts gzip', async () => {
  for (const asset of [...assets, ...lateAssets]) {
    const response = await fetch(app.url + asset);
    assert.equal(response.headers.get('content-encoding'), 'gzip');
    const plain = await fetch(app.url + asset, { headers: { 'accept-encoding': 'identity' } });
    assert.equal(plain.headers.get('content-encoding'), null);
    assert.equal(await plain.text(), await response.text());
  }
  for (const [accepted, encoding] of [
    ['gzip|GZip|gzip, br|br;q=1.0,gzip;q=0.8 ,\t*;q=0.1|gzip ; q=0.001|gzip;Q=1.', 'gzip'],
    ['|br|gzip;q=0|GZIP; Q=0.000|gzip;q=0, *|gzip-9|*|x-gzip', null],
  ] as const)
    for (const header of accepted.split('|')) {
      const { headers } = await fetch(`${app.url}${assets[0]}`, { headers: { 'accept-encoding': header } });
      assert.equal(headers.get('content-encoding'), encoding, header);
    }
});

test('an unknown page of the documentation gets a small 404 page with the navigation', async () => {
  for (const address of unknown) {
    const { response, html } = pages.get(address) ?? assert.fail();
    assert.equal(response.status, 404, address);
    expectHeaders(response, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
    assert.ok(response.headers.has('x-ratelimit-remaining'));
    assert.match(html, /<h1>Page not found<\/h1>/);
    assert.ok(html.includes('<span>Quickstart</span></a>'));
  }
  for (const path of ['/'.repeat(15_000), 'a/'.repeat(7_500), 'a'.repeat(15_000)]) {
    const response = await fetch(`${app.url}/docs/${path}`);
    assert.equal(response.status, 404);
    assert.ok((await response.text()).length < 2 * read('/docs/nothing').length);
  }
});

test('only a request for pages that are not ready after 30 s gets 503', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const findOwnUrl = () => 'http://127.0.0.1:8080/v1';
  const routes = createDocsRoutes({
    operations,
    findOwnUrl,
    environment: 'development',
    publicUrl: null,
    otherUrl: null,
    webhookSources: [],
  });
  const { run } = routes.find(({ path }) => path === '/docs') ?? assert.fail();
  const call = { params: {}, headers: {} } as Call;
  const answered = run(call);
  t.mock.timers.tick(30_000);
  await assert.rejects(answered, { code: 'unavailable' });
  // The time stands still, so that the pages of a busy machine are not late again.
  assert.equal((await run(call)).status, 200);
});
