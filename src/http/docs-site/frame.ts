import { type Content, html, type Markup } from './markup.ts';

export interface Page {
  /** Path below `/docs`, such as `errors` or `reference/list-pets`. Empty for the first page. */
  readonly path: string;
  readonly title: string;
  readonly group: string;
  /** Other words that lead the search to the page. */
  readonly searchWords?: string;
  readonly method?: string;
  readonly isDeprecated?: boolean;
  readonly content: Markup;
  readonly markdown: string;
}

/** What a page shows in its frame. A page that is not in the navigation has no path. */
type Framed = Pick<Page, 'title' | 'content'> & { readonly path?: string };

const similarMax = 5;

/** Makes the page for an address without one. It links to the pages whose names share a word with the address. */
export function makeNotFoundPage(address: string, pages: readonly Page[]): Framed {
  const words = new Set(address.toLowerCase().split(/[^a-z]+/));
  const shares = ({ path }: Page) =>
    path.split(/[^a-z]+/).some((word) => word !== 'reference' && word !== '' && words.has(word));
  const similar = pages.filter(shares).slice(0, similarMax);
  const root = findRoot(address);
  const entries = similar.map(
    ({ path, title }) => html`<li><a href="${root}${addressOf(path)}">${title}</a></li>`,
  );
  const found = similar.length > 0 && html`<p>These pages have a similar name:</p><ul>${entries}</ul>`;
  return {
    title: 'Page not found',
    content: html`<article><h1>Page not found</h1><p>There is no page at this address. The <a href="${root}/docs">overview</a> lists all operations, the navigation lists all pages, and the search at the top finds any word.</p>${found}</article>`,
  };
}

export const addressOf = (path: string) => (path === '' ? '/docs' : `/docs/${path}`);
export const markdownOf = (path: string) => `/docs/${path || 'index'}.md`;

/** Returns the relative path from an address to `/`, so that pages also work if a proxy adds a path prefix. */
export function findRoot(address: string): string {
  const folders = address.split('/').length - 2;
  return folders === 0 ? '.' : Array(folders).fill('..').join('/');
}

/** Renders a whole HTML page for an address, and the navigation through `pages`. `version` is of the assets. */
export function renderPage(
  { title, content, path }: Framed,
  address: string,
  pages: readonly Page[],
  version: string,
): string {
  const root = findRoot(address);
  const files = `${root}/docs/assets/${version}`;
  const markdown = path === undefined ? null : root + markdownOf(path);
  const alternate = markdown && html`<link rel="alternate" type="text/markdown" href="${markdown}">\n`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Animal Store</title>
<link rel="icon" href="${files}/icon.svg">
<link rel="stylesheet" href="${files}/site.css">
<link rel="alternate" type="application/atom+xml" title="Changelog" href="${root}/docs/changelog.atom">
${alternate}<script src="${files}/site.js"></script>
</head>
<body data-root="${root}" data-search="${files}/search.json" data-engine="${files}/minisearch.js">
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="home" href="${root}/docs">Animal Store</a>
<button class="search" type="button" aria-keyshortcuts="/ Control+K" title="Search (/ or Ctrl+K)" hidden>Search <kbd>/</kbd></button>
<button class="theme" type="button" hidden></button>
<a class="menu" href="#navigation">Menu</a>
</header>
<main id="content" tabindex="-1">${markdown && html`<p class="tools"><a href="${markdown}">Markdown</a></p>`}${content}${renderTurn(pages, path, root)}</main>
${renderNavigation(pages, path, root)}
</body>
</html>
`.markup;
}

/** Renders the links to the previous and the next page of the navigation. */
function renderTurn(pages: readonly Page[], path: string | undefined, root: string): Content {
  const place = pages.findIndex((page) => page.path === path);
  if (place === -1) return null;
  const before = pages[place - 1];
  const after = pages[place + 1];
  return html`<nav class="pager" aria-label="Previous and next page">${before && html`<a rel="prev" href="${root}${addressOf(before.path)}">← ${before.title}</a>`}
${after && html`<a rel="next" href="${root}${addressOf(after.path)}">${after.title} →</a>`}</nav>`;
}

function renderNavigation(pages: readonly Page[], current: string | undefined, root: string): Markup {
  const parts = Array.from(
    Map.groupBy(pages, ({ group }) => group),
    ([group, own]) => {
      const id = `navigation-${group.toLowerCase()}`;
      const entries = own.map((page) => renderEntry(page, page.path === current, root));
      return html`<p id="${id}">${group}</p>\n<ul aria-labelledby="${id}">${entries}</ul>`;
    },
  );
  return html`<nav id="navigation" aria-label="Documentation">
<a class="close" href="#content">Close the menu</a>
${parts}
<ul><li><a href="${root}/openapi.json">openapi.json</a></li></ul>
</nav>`;
}

function renderEntry({ path, title, method, isDeprecated }: Page, isCurrent: boolean, root: string): Markup {
  const name = isDeprecated ? html`<s>${title}</s>` : html`<span>${title}</span>`;
  const mark = method && html`<span class="method ${method.toLowerCase()}">${method}</span> `;
  const current = isCurrent && html` aria-current="page"`;
  return html`<li><a href="${root}${addressOf(path)}"${current}>${mark}${name}</a></li>`;
}
