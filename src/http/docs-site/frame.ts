import { type Content, html, type Markup } from './markup.ts';

/** A page of the documentation, without the shared frame. */
export interface Page {
  /** Path below `/docs`, such as `errors` or `reference/list-pets`. Empty for the first page. */
  readonly path: string;
  readonly title: string;
  /** The heading of the page in the navigation. */
  readonly group: string;
  /** The HTTP method of an operation. Absent for all other pages. */
  readonly method?: string;
  /** True for an operation that is deprecated. */
  readonly isDeprecated?: boolean;
  readonly content: Markup;
  /** The same page as Markdown. */
  readonly markdown: string;
}

/** The page at `/`. */
export const welcomePage = {
  title: 'Welcome',
  content: html`<article><h1>Animal Store</h1><p>This is an HTTP/JSON catalogue of the animals that a store offers. Start with the <a href="./docs/getting-started">quickstart</a>, or look at the <a href="./docs">reference</a>.</p></article>`,
};

export const notFoundPage = {
  title: 'Page not found',
  content: html`<article><h1>Page not found</h1><p>There is no such page. The navigation lists all pages.</p></article>`,
};

/** The parts that all pages share. */
export interface Frame {
  /** All pages, in the order of the navigation. */
  readonly pages: readonly Page[];
  /** The version of the assets. */
  readonly version: string;
}

/** Returns the address of a page. */
export const addressOf = (path: string) => (path === '' ? '/docs' : `/docs/${path}`);
/** Returns the address of a page as Markdown. */
export const markdownOf = (path: string) => `/docs/${path || 'index'}.md`;

/**
 * Returns the relative path from an address to `/`. All links on a page are relative, so that the page also works if a
 * proxy adds a path prefix.
 */
export function findRoot(address: string): string {
  const folders = address.split('/').length - 2;
  return folders === 0 ? '.' : Array(folders).fill('..').join('/');
}

/**
 * Renders a whole HTML page for an address: the header, the content and the navigation. A page that is not in the
 * navigation has no path.
 */
export function renderPage(
  { title, content, path }: Pick<Page, 'title' | 'content'> & { readonly path?: string },
  address: string,
  { pages, version }: Frame,
): string {
  const root = findRoot(address);
  const files = `${root}/docs/assets/${version}`;
  const markdown = path === undefined ? null : root + markdownOf(path);
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
${
  markdown &&
  html`<link rel="alternate" type="text/markdown" href="${markdown}">
`
}<script src="${files}/site.js"></script>
</head>
<body data-root="${root}" data-search="${files}/search.json" data-engine="${files}/minisearch.js">
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="home" href="${root}/docs">Animal Store</a>
<button class="search" type="button" hidden>Search <kbd>/</kbd></button>
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
  const link = (page: Page | undefined, relation: string, write: (title: string) => string) =>
    page && html`<a rel="${relation}" href="${root}${addressOf(page.path)}">${write(page.title)}</a>`;
  return html`<nav class="turn" aria-label="Previous and next page">${link(pages[place - 1], 'prev', (title) => `← ${title}`)}
${link(pages[place + 1], 'next', (title) => `${title} →`)}</nav>`;
}

function renderNavigation(pages: readonly Page[], current: string | undefined, root: string): Markup {
  const groups = Map.groupBy(pages, ({ group }) => group);
  const parts = [...groups].map(([title, entries]) => {
    const id = `navigation-${title.toLowerCase()}`;
    return html`<p id="${id}">${title}</p>
<ul aria-labelledby="${id}">${entries.map((entry) => renderEntry(entry, entry.path === current, root))}</ul>`;
  });
  return html`<nav id="navigation" aria-label="Documentation">
<a class="close" href="#content">Close the menu</a>
${parts}
<ul><li><a href="${root}/openapi.json">openapi.json</a></li></ul>
</nav>`;
}

function renderEntry(page: Page, isCurrent: boolean, root: string): Content {
  const { path, title, method, isDeprecated } = page;
  const address = root + addressOf(path);
  const name = isDeprecated ? html`<s>${title}</s>` : html`<span>${title}</span>`;
  const mark = method && html`<span class="method ${method.toLowerCase()}">${method}</span> `;
  const current = isCurrent && html` aria-current="page"`;
  return html`<li><a href="${address}"${current}>${mark}${name}</a></li>`;
}
