import type { Assets } from './assets.ts';
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

const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#0b6e4f"/><g fill="#fff"><ellipse cx="8" cy="10.6" rx="3" ry="2.4"/><circle cx="4" cy="7.2" r="1.3"/><circle cx="6.6" cy="4.9" r="1.3"/><circle cx="9.4" cy="4.9" r="1.3"/><circle cx="12" cy="7.2" r="1.3"/></g></svg>',
)}`;

/** The parts that all pages share. */
export interface Frame {
  /** All pages, in the order of the navigation. */
  readonly pages: readonly Page[];
  readonly assets: Assets;
}

/** A page to render in the frame. */
export interface FramedPage {
  readonly title: string;
  readonly content: Markup;
  /** Path below `/docs`. Null for a page that is not in the navigation. */
  readonly path: string | null;
  /** The relative path from the page to `/`. */
  readonly root: string;
}

/**
 * Returns the relative path from a page to `/`. All links on a page are relative, so that the page also works if a
 * proxy adds a path prefix.
 */
export function findRoot(path: string): string {
  return path === '' ? '.' : Array(path.split('/').length).fill('..').join('/');
}

/** Renders a whole HTML page: the header, the content and the navigation. */
export function renderPage({ title, content, path, root }: FramedPage, { pages, assets }: Frame): string {
  const address = (asset: Parameters<Assets['nameOf']>[0]) => `${root}/docs/assets/${assets.nameOf(asset)}`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Animal Store</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${address('site.css')}">
<link rel="alternate" type="application/atom+xml" title="Changelog" href="${root}/docs/changelog.atom">
${
  path !== null &&
  html`<link rel="alternate" type="text/markdown" href="${nameMarkdown(path, root)}">
`
}<script src="${address('site.js')}"></script>
</head>
<body data-root="${root}" data-search="${address('search.json')}" data-engine="${address('minisearch.js')}">
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="home" href="${root}/docs">Animal Store</a>
<button class="search" type="button" hidden>Search <kbd>/</kbd></button>
<button class="theme" type="button" hidden></button>
<a class="menu" href="#navigation">Menu</a>
</header>
<main id="content" tabindex="-1">${path !== null && html`<p class="tools"><a href="${nameMarkdown(path, root)}">Markdown</a></p>`}${content}${renderTurn(pages, path, root)}</main>
${renderNavigation(pages, path, root)}
</body>
</html>
`.markup;
}

function nameAddress(path: string, root: string): string {
  return path === '' ? `${root}/docs` : `${root}/docs/${path}`;
}

/** Returns the address of a page as Markdown. */
function nameMarkdown(path: string, root: string): string {
  return `${root}/docs/${path || 'index'}.md`;
}

/** Renders the links to the previous and the next page of the navigation. */
function renderTurn(pages: readonly Page[], path: string | null, root: string): Content {
  const place = pages.findIndex((page) => page.path === path);
  if (place === -1) return null;
  const link = (page: Page | undefined, relation: string, write: (title: string) => string) =>
    page && html`<a rel="${relation}" href="${nameAddress(page.path, root)}">${write(page.title)}</a>`;
  return html`<nav class="turn" aria-label="Previous and next page">${link(pages[place - 1], 'prev', (title) => `← ${title}`)}
${link(pages[place + 1], 'next', (title) => `${title} →`)}</nav>`;
}

function renderNavigation(pages: readonly Page[], current: string | null, root: string): Markup {
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
  const address = nameAddress(path, root);
  const name = isDeprecated ? html`<s>${title}</s>` : html`<span>${title}</span>`;
  const mark = method && html`<span class="method ${method.toLowerCase()}">${method}</span> `;
  const current = isCurrent && html` aria-current="page"`;
  return html`<li><a href="${address}"${current}>${mark}${name}</a></li>`;
}
