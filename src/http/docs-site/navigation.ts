import { type Guide, guides, type Section } from './guides.ts';
import { type Content, html, type Markup } from './markup.ts';
import type { Description } from './reference/description.ts';
import { nameAddress } from './reference/overview.ts';

/** A group of pages in the navigation. */
export interface NavigationGroup {
  readonly title: string;
  readonly entries: readonly NavigationEntry[];
}

interface NavigationEntry {
  /** Path below `/docs`. */
  readonly path: string;
  readonly title: string;
  /** HTTP method of an operation. Null for all other pages. */
  readonly method: string | null;
  readonly isDeprecated: boolean;
}

/** Returns all pages of the documentation: guides grouped by section, operations grouped by tag. */
export function listGroups({ tags, operations }: Description): readonly NavigationGroup[] {
  const first = toEntry('', 'Overview');
  return [
    { title: 'Start', entries: [first, ...listGuides('start')] },
    { title: 'Guides', entries: listGuides('guide') },
    ...tags.map(({ name }) => ({
      title: name.charAt(0).toUpperCase() + name.slice(1),
      entries: operations
        .filter(({ tag }) => tag === name)
        .map((operation) => ({
          path: `reference/${nameAddress(operation)}`,
          title: operation.summary,
          method: operation.method,
          isDeprecated: operation.removedOn !== null,
        })),
    })),
    { title: 'More', entries: [toEntry('reference/headers', 'Headers')] },
  ];
}

function listGuides(section: Section): NavigationEntry[] {
  return guides
    .filter((guide) => guide.section === section)
    .map(({ name, title }: Guide) => toEntry(name, title));
}

function toEntry(path: string, title: string): NavigationEntry {
  return { path, title, method: null, isDeprecated: false };
}

/**
 * Renders the navigation of a page. The parameter `current` is the path of the page below `/docs`, or null for a page
 * outside the documentation. `root` is the relative path from the page to `/`.
 */
export function renderNavigation(
  groups: readonly NavigationGroup[],
  current: string | null,
  root: string,
): Markup {
  const parts = groups.map(({ title, entries }) => {
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

function renderEntry(
  { path, title, method, isDeprecated }: NavigationEntry,
  isCurrent: boolean,
  root: string,
): Content {
  const address = path === '' ? `${root}/docs` : `${root}/docs/${path}`;
  const name = isDeprecated ? html`<s>${title}</s>` : html`<span>${title}</span>`;
  const mark = method === null ? null : html`<span class="method ${method.toLowerCase()}">${method}</span> `;
  const current = isCurrent && html` aria-current="page"`;
  return html`<li><a href="${address}"${current}>${mark}${name}</a></li>`;
}
