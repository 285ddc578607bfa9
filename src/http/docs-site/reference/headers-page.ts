import { renderInline } from '../markdown.ts';
import { html, type Markup } from '../markup.ts';
import type { Description, Header } from './description.ts';
import { findCommonHeaders, listHeaders } from './headers.ts';

/** Renders the page of all response headers, at `/docs/reference/headers`. */
export function renderHeaders({ operations }: Description): Markup {
  const common = findCommonHeaders(operations);
  const others = [...listHeaders(operations)].filter(([name]) => !common.has(name));
  return html`<article>
<h1>Headers</h1>
<h2 id="every-answer"><a href="#every-answer">On every answer</a></h2>
<p>Error answers have these headers too. <a href="../limits#headers">Limits</a> explains the headers of the rate limits.</p>
<dl class="fields">${[...common].map(([name, header]) => renderHeader(name, [header]))}</dl>
<h2 id="some-answers"><a href="#some-answers">On some answers</a></h2>
<p>The page of each operation lists the headers of its answers.</p>
<dl class="fields">${others.map(([name, headers]) => renderHeader(name, headers))}</dl>
</article>`;
}

function renderHeader(name: string, headers: readonly Header[]): Markup {
  const anchor = name.toLowerCase();
  const [first] = headers;
  return html`<div id="${anchor}"><dt><a href="#${anchor}"><code>${name}</code></a>${
    first?.required !== true && html` <span class="type">may be absent</span>`
  }</dt><dd>${headers.map(({ description }) => html`<p>${renderInline(description)}</p>`)}
<p class="rules">Example: <code>${String(first?.example)}</code></p></dd></div>`;
}
