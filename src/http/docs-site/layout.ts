import type { Assets } from './assets.ts';
import { html, type Markup } from './markup.ts';
import { type NavigationGroup, renderNavigation } from './navigation.ts';
import { findRoot, type Page } from './page.ts';

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
  readonly groups: readonly NavigationGroup[];
  readonly assets: Assets;
}

export function renderPage({ path, title, content }: Page, frame: Frame): string {
  return renderFrame(title, content, path, findRoot(path), frame);
}

/** Renders a page outside `/docs`. `root` is the relative path from the page to `/`. */
export function renderOtherPage({ title, content }: Omit<Page, 'path'>, root: string, frame: Frame): string {
  return renderFrame(title, content, null, root, frame);
}

function renderFrame(
  title: string,
  content: Markup,
  current: string | null,
  root: string,
  { groups, assets }: Frame,
): string {
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
<script defer src="${address('site.js')}"></script>
</head>
<body data-root="${root}" data-search="${address('search.json')}">
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="home" href="${root}/docs">Animal Store</a>
<button class="search" type="button" hidden>Search <kbd>/</kbd></button>
<a class="menu" href="#navigation">Menu</a>
</header>
<main id="content" tabindex="-1">${content}</main>
${renderNavigation(groups, current, root)}
</body>
</html>
`.markup;
}
