import { introduction, tags } from '../../openapi/description.ts';
import { responseHeaders, universalHeaders } from '../../openapi/headers.ts';
import type { Operation } from '../../operation.ts';
import { renderCode } from '../code.ts';
import { renderDescription, renderInline } from '../markdown.ts';
import { html, type Markup } from '../markup.ts';
import { nameAddress, renderMarks } from './operation-page.ts';

/** Renders the first page, at `/docs`. */
export function renderOverview(operations: readonly Operation[], baseUrl: string): Markup {
  return html`<article>
<h1>Animal Store</h1>
${renderDescription(introduction)}
<ul class="starts">
<li><a href="./docs/getting-started">Quickstart</a> Get a key and add your first animal.</li>
<li><a href="./docs/authentication">Authentication</a> API keys and their scopes.</li>
<li><a href="./docs/client">TypeScript client</a> Handles pages, retries and exact integers.</li>
<li><a href="./docs/errors">Errors</a> The cause of each error code and how to fix it.</li>
</ul>
<h2 id="base-address"><a href="#base-address">Base address</a></h2>
${renderCode(baseUrl, 'address')}
<p><a href="./openapi.json">openapi.json</a> describes the interface in OpenAPI 3.1, for code generators and other tools.</p>
${tags.map((tag) => renderTag(tag, operations))}
</article>`;
}

function renderTag({ name, description }: (typeof tags)[number], operations: readonly Operation[]): Markup {
  const own = operations.filter(({ tag }) => tag === name);
  return html`<h2 id="${name}"><a href="#${name}">${name.charAt(0).toUpperCase() + name.slice(1)}</a></h2>
<p>${renderInline(description)}</p>
<ul class="operations">${own.map(renderEntry)}</ul>`;
}

function renderEntry(operation: Operation): Markup {
  const { method, path, summary } = operation;
  return html`<li><a href="./docs/reference/${nameAddress(operation)}"><span class="method ${method.toLowerCase()}">${method}</span>${summary}</a> <code>${path}</code>${renderMarks(operation)}</li>`;
}

/** Renders the page of all response headers, at `/docs/reference/headers`. */
export function renderHeaders(): Markup {
  const byName = Map.groupBy(Object.entries(responseHeaders), ([name]) => name.replace(/^.+Link$/, 'Link'));
  const all = [...byName].map(([name, entries]) => ({ name, headers: entries.map(([, header]) => header) }));
  const isCommon = ({ name }: { name: string }) => (universalHeaders as readonly string[]).includes(name);
  return html`<article>
<h1>Headers</h1>
<h2 id="every-answer"><a href="#every-answer">On every answer</a></h2>
<p>Error answers have these headers too. <a href="../limits#headers">Limits</a> explains the headers of the rate limits.</p>
<dl class="fields">${all.filter(isCommon).map(renderHeader)}</dl>
<h2 id="some-answers"><a href="#some-answers">On some answers</a></h2>
<p>The page of each operation lists the headers of its answers.</p>
<dl class="fields">${all.filter((header) => !isCommon(header)).map(renderHeader)}</dl>
</article>`;
}

type Header = (typeof responseHeaders)[keyof typeof responseHeaders];

function renderHeader({ name, headers }: { name: string; headers: readonly Header[] }): Markup {
  const anchor = name.toLowerCase();
  const [first] = headers;
  const isOptional = first !== undefined && !('required' in first);
  return html`<div id="${anchor}"><dt><a href="#${anchor}"><code>${name}</code></a>${
    isOptional && html` <span class="type">may be absent</span>`
  }</dt><dd>${headers.map(({ description }) => html`<p>${renderInline(description)}</p>`)}
<p class="rules">Example: <code>${String(first?.example)}</code></p></dd></div>`;
}
