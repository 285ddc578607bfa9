import { renderDescription, renderInline } from '../markdown.ts';
import { html, type Markup } from '../markup.ts';
import { renderCode } from '../tabs.ts';
import type { DescribedOperation, Description } from './description.ts';
import { renderMarks } from './operation-page.ts';

/** Returns the name of an operation in URLs, such as `list-pets`. */
export function nameAddress({ id }: Pick<DescribedOperation, 'id'>): string {
  return id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Renders the first page, at `/docs`. */
export function renderOverview(description: Description, baseUrl: string): Markup {
  return html`<article>
<h1>Animal Store</h1>
${renderDescription(description.introduction)}
<ul class="starts">
<li><a href="./docs/getting-started">Quickstart</a> Get a key and add your first animal.</li>
<li><a href="./docs/authentication">Authentication</a> API keys and their scopes.</li>
<li><a href="./docs/client">TypeScript client</a> Handles pages, retries and exact integers.</li>
<li><a href="./docs/errors">Errors</a> The cause of each error code and how to fix it.</li>
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
