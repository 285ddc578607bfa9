import { marked } from 'marked';
import { introduction } from '../openapi/description.ts';
import type { Operation } from '../operation.ts';
import { type Answer, listHeaders, makeAnswer } from '../response/answer.ts';
import { makeServedFile, type ServedFile } from '../response/served-file.ts';
import { readAssets } from './assets.ts';
import { colourPages } from './code.ts';
import { addressOf, makeNotFoundPage, markdownOf, type Page, renderPage } from './frame.ts';
import { guides, readGuide } from './guides.ts';
import type { Installation } from './installation.ts';
import { toAnchor } from './markdown.ts';
import { html, toText } from './markup.ts';
import { listReference, makeOverview } from './reference/pages.ts';

export interface SiteOptions extends Omit<Installation, 'baseUrl'> {
  readonly operations: readonly Operation[];
  readonly publicUrl: string | null;
  /** Returns the base URL at which this machine reaches the service. The server must be listening. */
  readonly findOwnUrl: () => string;
}

/** All pages of the documentation, ready to send. */
export type Site = Awaited<ReturnType<typeof makeSite>>;

const pageHeaders = {
  'referrer-policy': 'no-referrer',
  'cache-control': 'private, no-cache',
  vary: 'Accept, Accept-Encoding',
};
const neverStored = listHeaders({ ...pageHeaders, 'cache-control': 'no-store' });

/** Renders all pages, each also as Markdown (`.md`). Throws if a guide links to a page that does not exist. */
export async function makeSite({ operations, publicUrl, findOwnUrl, ...addresses }: SiteOptions) {
  const baseUrl = publicUrl ?? findOwnUrl();
  const docsUrl = new URL('docs', baseUrl).href;
  const plain = [
    makeOverview(operations, baseUrl),
    ...(await Promise.all(guides.map((guide) => readGuide(guide, { ...addresses, baseUrl }, operations)))),
    ...listReference(operations, baseUrl, publicUrl),
  ];
  const { version, files: assets } = await readAssets(plain);
  const pages = await colourPages(plain);
  const texts = [
    ['/llms.txt', 'text/plain', writeList(pages, baseUrl, docsUrl)],
    [
      '/llms-full.txt',
      'text/plain',
      pages.map(({ markdown }) => linkAbsolutely(markdown, docsUrl)).join('\n'),
    ],
    ['/docs/changelog.atom', 'application/atom+xml', writeFeed(pages, docsUrl)],
    ...pages.flatMap((page) => {
      const address = addressOf(page.path);
      return [
        [address, 'text/html', renderPage(page, address, pages, version)],
        [markdownOf(page.path), 'text/markdown', linkToMarkdown(page.markdown)],
      ] as const;
    }),
  ] as const;
  const served = texts.map(
    async ([address, type, text]) =>
      [address, await makeServedFile(text, `${type}; charset=utf-8`, pageHeaders)] as const,
  );
  const files = new Map<string, ServedFile>(await Promise.all(served));
  for (const [name, file] of assets) files.set(`/docs/assets/${version}/${name}`, file);
  return {
    files,
    notFound(address: string): Answer {
      const text = renderPage(makeNotFoundPage(address, pages), address, pages, version);
      return makeAnswer(404, text, neverStored, 'text/html; charset=utf-8');
    },
  };
}

/** Matches the target of a link to a page: its path without an ending, and its anchor. */
const pageLinks = /\]\((?![a-z]+:|#)((?:\.{0,2}\/)*(?:[\w-]+\/)*[\w-]+)(#[^)\s]*)?\)/g;

/** Makes the links between pages lead to their Markdown. */
function linkToMarkdown(markdown: string): string {
  return markdown.replaceAll(pageLinks, ']($1.md$2)');
}

/** Makes the links between pages lead to their addresses. */
function linkAbsolutely(markdown: string, docsUrl: string): string {
  return markdown.replaceAll(
    pageLinks,
    (_, path: string, anchor = '') =>
      `](${docsUrl}/${path.replaceAll(/^(?:\.+\/)+(?=[a-z-]+$)/g, '')}${anchor})`,
  );
}

/** Writes `/llms.txt`: what the service is, and the address of each page as Markdown with what it is about. */
function writeList(pages: readonly Page[], baseUrl: string, docsUrl: string): string {
  const groups = Map.groupBy(pages, ({ group }) => group);
  const parts = Array.from(groups, ([group, own]) => {
    const lines = own.map(
      ({ title, path, markdown }) => `- [${title}](${docsUrl}/${path || 'index'}.md): ${summarise(markdown)}`,
    );
    return `## ${group}\n\n${lines.join('\n')}`;
  });
  const others = [
    `- [openapi.json](${new URL('openapi.json', docsUrl).href}): the description in OpenAPI 3.1`,
    `- [llms-full.txt](${new URL('llms-full.txt', docsUrl).href}): all pages in one text`,
  ];
  const [about = '', ...rules] = introduction.split('\n\n');
  const base = `The base address is ${baseUrl}. Every page is also Markdown: add \`.md\`, or send \`Accept: text/markdown\`.`;
  return `# Animal Store\n\n> ${about}\n\n${base}\n\n${rules.join('\n\n')}\n\n${parts.join('\n\n')}\n${others.join('\n')}\n`;
}

/** Returns the first sentence of a page. */
function summarise(markdown: string): string {
  const paragraph =
    markdown.split('\n\n').find((part) => /^[A-Z`]/.test(part) && !/^`[A-Z]+ \//.test(part)) ?? '';
  const [sentence = ''] = toText(marked.parseInline(paragraph.replaceAll('\n', ' '), { async: false })).split(
    /(?<=[.:]) /,
  );
  return sentence.trim();
}

/** Matches a dated release of the changelog: its heading, its date and its changes. */
const releases = /^## (.+ – (\d{4}-\d{2}-\d{2}))$((?:\n(?!## ).*)*)/gm;

/** Writes the dated releases of the changelog as an Atom feed (RFC 4287), newest first. */
function writeFeed(pages: readonly Page[], docsUrl: string): string {
  const changelog = pages.find(({ path }) => path === 'changelog');
  const address = `${docsUrl}/changelog`;
  const found = [...(changelog?.markdown ?? '').matchAll(releases)];
  const entries = found.map(([, heading = '', date, changes = '']) => {
    const link = `${address}#${toAnchor(heading)}`;
    return html`<entry>
<id>${link}</id>
<title>${heading}</title>
<link href="${link}"/>
<updated>${date}T00:00:00Z</updated>
<content type="html">${marked.parse(linkAbsolutely(changes, docsUrl), { async: false })}</content>
</entry>
`;
  });
  return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:base="${docsUrl}/" xml:lang="en">
<id>${address}</id>
<title>Animal Store: ${changelog?.title}</title>
<link href="${address}"/>
<link rel="self" type="application/atom+xml" href="${docsUrl}/changelog.atom"/>
<author><name>Animal Store</name></author>
<updated>${found[0]?.[2]}T00:00:00Z</updated>
${entries}</feed>
`.markup;
}
