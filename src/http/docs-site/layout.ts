import type { Assets } from './assets.ts';
import { guides } from './guides.ts';

/** What stands on a page. */
export interface PageContent {
  /** The address below `/docs/`; empty for the reference, which is `/docs` itself; null for a page outside of it. */
  readonly name: string | null;
  readonly title: string;
  /** HTML; null for the reference, whose content its script makes from `/openapi.json`. */
  readonly content: string | null;
}

export const reference = { name: '', title: 'Reference', content: null } as const satisfies PageContent;

/** What a person sees who opens the address of the service in a browser. */
export const welcomePage: PageContent = {
  name: null,
  title: 'Welcome',
  content:
    '<h1>Animal Store</h1><p>This is an HTTP/JSON catalogue of the animals that a store offers. Start with <a href="./docs/getting-started">Getting started</a>, or look at the <a href="./docs">reference</a>.</p>',
};

export const notFoundPage: PageContent = {
  name: 'not-found',
  title: 'Page not found',
  content: '<h1>Page not found</h1><p>There is no such page. The navigation above lists all pages.</p>',
};

const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#0b6e4f"/><g fill="#fff"><ellipse cx="8" cy="10.6" rx="3" ry="2.4"/><circle cx="4" cy="7.2" r="1.3"/><circle cx="6.6" cy="4.9" r="1.3"/><circle cx="9.4" cy="4.9" r="1.3"/><circle cx="12" cy="7.2" r="1.3"/></g></svg>',
)}`;

/**
 * A whole page as HTML. All its addresses are relative to `root`, the way from the page to `/`, so that it also works
 * below a proxy's prefix.
 */
export function renderPage(
  { name, title, content }: PageContent,
  assets: Assets,
  root = name ? '..' : '.',
): string {
  const address = (asset: Parameters<Assets['nameOf']>[0]) => `${root}/docs/assets/${assets.nameOf(asset)}`;
  const style = content === null ? 'reference.css' : 'guide.css';
  const script = content === null ? `<script defer src="${address('reference.js')}"></script>` : '';

  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Animal Store</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${address(style)}">
${script}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="home" href="${root}/docs">Animal Store</a>
<nav aria-label="Documentation">${renderNavigation(name, root)}</nav>
</header>
<main id="content">${content === null ? renderReference(root) : `<article>${content}</article>`}</main>
</body>
</html>
`;
}

function renderNavigation(current: string | null, root: string): string {
  const entries = [reference, ...guides].map(({ name, title }) => {
    const address = name === '' ? `${root}/docs` : `${root}/docs/${name}`;
    return `<li><a href="${address}"${name === current ? ' aria-current="page"' : ''}>${title}</a></li>`;
  });
  return `<ul>${entries.join('')}<li><a href="${root}/openapi.json">OpenAPI</a></li></ul>`;
}

function renderReference(root: string): string {
  return `<noscript><p>The reference needs JavaScript. All that it shows is in <a href="${root}/openapi.json">openapi.json</a>.</p></noscript>
<div id="reference" data-description="${root}/openapi.json" data-guides="${root}/docs/"></div>`;
}
