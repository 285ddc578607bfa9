import { renderDescription, renderInline } from '../markdown.ts';
import { html, type Markup } from '../markup.ts';
import { renderCode } from '../tabs.ts';
import type { DescribedOperation, Description } from './description.ts';
import { renderMarks } from './operation-page.ts';

/** The name of an operation in its address: `list-pets`. */
export function nameAddress({ id }: Pick<DescribedOperation, 'id'>): string {
  return id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Renders the first page, at `/docs`: where to begin, and all operations. */
export function renderOverview(description: Description, baseUrl: string): Markup {
  return html`<article>
<h1>Animal Store</h1>
${renderDescription(description.introduction)}
<ul class="starts">
<li><a href="./docs/getting-started">Quickstart</a> From a key to a first animal in a minute.</li>
<li><a href="./docs/authentication">Authentication</a> Keys, and what their scopes allow.</li>
<li><a href="./docs/client">TypeScript client</a> Pages, retries and exact integers by itself.</li>
<li><a href="./docs/errors">Errors</a> Each code with its cause and fix.</li>
</ul>
<h2 id="base-address"><a href="#base-address">Base address</a></h2>
${renderCode(baseUrl, 'address')}
<p><a href="./openapi.json">openapi.json</a> describes the interface in OpenAPI 3.1, for code generators and other tools.</p>
${description.tags.map((tag) => renderTag(tag, description))}
</article>`;
}

function renderTag({ name, description }: Description['tags'][number], { operations }: Description): Markup {
  const own = operations.filter(({ tag }) => tag === name);
  return html`<h2 id="${name}"><a href="#${name}">${name.charAt(0).toUpperCase() + name.slice(1)}</a></h2>
<p>${renderInline(description)}</p>
<ul class="operations">${own.map(renderEntry)}</ul>`;
}

function renderEntry(operation: DescribedOperation): Markup {
  const { method, path, summary } = operation;
  return html`<li><a href="./docs/reference/${nameAddress(operation)}"><span class="method ${method.toLowerCase()}">${method}</span>${summary}</a> <code>${path}</code>${renderMarks(operation)}</li>`;
}
