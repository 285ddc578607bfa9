import { tags } from '../../api/operations.ts';
import { introduction } from '../../openapi/description.ts';
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

/** Writes the first page as Markdown, with links to all operations. */
export function writeOverview(operations: readonly Operation[], baseUrl: string): string {
  const lines = operations.map(
    (operation) =>
      `- [${operation.summary}](reference/${nameAddress(operation)}.md): \`${operation.method} ${operation.path}\``,
  );
  return `# Animal Store\n\n${introduction}\n\nBase address: ${baseUrl}\n\n## Operations\n\n${lines.join('\n')}\n`;
}

type Header = (typeof responseHeaders)[keyof typeof responseHeaders];

/** Writes the page of all response headers as Markdown. */
export function writeHeaders(): string {
  const byName = Map.groupBy(Object.entries(responseHeaders), ([name]) => name.replace(/^.+Link$/, 'Link'));
  const all = [...byName].map(([name, entries]) => ({ name, headers: entries.map(([, header]) => header) }));
  const isCommon = ({ name }: { name: string }) => (universalHeaders as readonly string[]).includes(name);
  return `# Headers

## On every answer

Error answers have these headers too. [Limits](../limits#headers) explains the headers of the rate limits.

${all.filter(isCommon).map(writeHeader).join('\n\n')}

## On some answers

The page of each operation lists the headers of its answers.

${all
  .filter((header) => !isCommon(header))
  .map(writeHeader)
  .join('\n\n')}
`;
}

function writeHeader({ name, headers }: { name: string; headers: readonly Header[] }): string {
  const [first] = headers;
  const texts = headers.map(({ description }) => description);
  const presence = first !== undefined && !('required' in first) ? ' It may be absent.' : '';
  return `### ${name}\n\n${texts.join('\n\n')}${presence} Example: \`${first?.example}\``;
}
