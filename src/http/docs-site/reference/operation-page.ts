import { renderDescription, renderInline } from '../markdown.ts';
import { type Content, html, join, type Markup } from '../markup.ts';
import { renderCode, renderTabs } from '../tabs.ts';
import type { DescribedOperation, Description, Place, Response } from './description.ts';
import { type Failure, listFailures } from './failures.ts';
import { renderParameters, renderSchema } from './fields.ts';
import { formatJson } from './json.ts';
import { writeSamples } from './samples/samples.ts';
import { renderTryIt } from './try-it.ts';

/** The values that the pages of all operations share. */
export interface ReferenceContext {
  readonly description: Description;
  /** Base URL in the samples. */
  readonly baseUrl: string;
  /** Base URL for the try-it form, absolute or relative to the page. */
  readonly callUrl: string;
  /** Headers that every response has. A separate page describes them. */
  readonly commonHeaders: ReadonlyMap<string, unknown>;
  /** Error codes that all operations share. */
  readonly commonCodes: ReadonlySet<string>;
}

/** Renders the page of an operation, at `/docs/reference/…`. */
export function renderOperation(operation: DescribedOperation, context: ReferenceContext): Markup {
  const { method, path, summary, description } = operation;
  return html`<article class="operation">
<div class="prose">
<h1>${summary}${renderMarks(operation)}</h1>
<p class="address"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
${renderDescription(description)}
${renderScopes(operation.scopes)}
${renderPlace(operation, 'path', 'Path parameters', context)}
${renderPlace(operation, 'query', 'Query parameters', context)}
${renderPlace(operation, 'header', 'Headers', context)}
${renderBody(operation, context)}
${renderAnswers(operation, context)}
${renderFailures(operation, context)}
</div>
<div class="code">
${renderExamples(operation, context)}
</div>
${renderTryIt(operation, context)}
</article>`;
}

/** Renders the marks of an operation: beta and deprecated. */
export function renderMarks({ isBeta, removedOn }: DescribedOperation): Content {
  return [
    isBeta && html` <span class="mark beta">beta</span>`,
    removedOn !== null && html` <span class="mark deprecated">deprecated, removed on ${removedOn}</span>`,
  ];
}

function renderScopes(scopes: readonly string[]): Markup {
  if (scopes.length === 0) return html`<p class="scope">Any API key may call this operation.</p>`;
  const names = scopes.map((scope) => html`<a href="../authentication#scopes"><code>${scope}</code></a>`);
  return html`<p class="scope">Needs a key with the scope ${join(names, ' or ')}.</p>`;
}

function renderPlace(
  { parameters }: DescribedOperation,
  place: Place,
  title: string,
  { description }: ReferenceContext,
): Content {
  const own = parameters.filter((parameter) => parameter.in === place);
  if (own.length === 0) return null;
  return html`<h2 id="${place}"><a href="#${place}">${title}</a></h2>
${renderParameters(own, description)}`;
}

function renderBody({ body }: DescribedOperation, { description }: ReferenceContext): Content {
  if (body === null) return null;
  const types = body.types.map((type) => html`<code>${type}</code>`);
  return html`<h2 id="body"><a href="#body">Body</a></h2>
<p>${join(types, ' or ')}</p>
${renderSchema(body.media.schema, 'body', description)}`;
}

function renderAnswers({ responses }: DescribedOperation, context: ReferenceContext): Markup {
  const good = responses.filter(({ status }) => /^[23]/.test(status));
  return html`<h2 id="answers"><a href="#answers">Answers</a></h2>
${good.map((response) => renderAnswer(response, context))}
<p>Every answer has <a href="./headers">these headers</a> too.</p>`;
}

function renderAnswer({ status, description, body, headers }: Response, context: ReferenceContext): Markup {
  const own = Object.entries(headers).filter(([name]) => !context.commonHeaders.has(name));
  const isList = body?.schema.type === 'array';
  return html`<h3 id="answer.${status}"><a href="#answer.${status}"><code>${status}</code></a> ${renderInline(description)}</h3>
${isList && html`<p>An array. Each item has these fields:</p>`}
${body !== null && renderSchema(body.schema, `answer.${status}`, context.description)}
${
  own.length > 0 &&
  html`<details class="nested"><summary>Headers of this answer</summary><dl class="fields">${own.map(
    ([name, header]) =>
      html`<div><dt><code>${name}</code></dt><dd><p>${renderInline(header.description)}</p></dd></div>`,
  )}</dl></details>`
}`;
}

function renderFailures(operation: DescribedOperation, { commonCodes }: ReferenceContext): Markup {
  const all = listFailures(operation);
  const own = all.filter(({ code }) => !commonCodes.has(code));
  const common = all.filter(({ code }) => commonCodes.has(code));
  return html`<h2 id="errors"><a href="#errors">Errors</a></h2>
${own.length > 0 && renderCodes(own)}
<details class="nested"${own.length === 0 && html` open`}><summary>Errors of every operation</summary>
${renderCodes(common)}</details>`;
}

function renderCodes(failures: readonly Failure[]): Markup {
  const rows = failures.map(
    ({
      status,
      code,
      body,
    }) => html`<tr><td>${status}</td><td><a href="../errors#${code}"><code>${code}</code></a></td>
<td>${(body as { readonly message: string }).message}</td></tr>
`,
  );
  return html`<div class="table" tabindex="0"><table><thead><tr><th>Status</th><th>Code</th><th>Example message</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

function renderExamples(operation: DescribedOperation, { baseUrl, description }: ReferenceContext): Markup {
  const samples = writeSamples(operation, baseUrl, description).map(({ language, code }) => ({
    label: language,
    content: renderCode(code, language),
  }));
  const answers = operation.responses.filter(({ status }) => status !== '304');
  const tabs = answers.map((response) => ({ label: response.status, content: renderResponse(response) }));
  return html`<h2 class="unseen">Code</h2>
<section class="samples" aria-label="Request">${renderTabs('language', 'Language', samples)}</section>
<section aria-label="Answer">${renderTabs('status', 'Status of the answer', tabs)}</section>`;
}

function renderResponse({ description, body }: Response): Content {
  if (body === null) return html`<p class="caption">${renderInline(description)} No body.</p>`;
  return Object.entries(body.examples ?? {}).map(
    ([name, { summary, value }]) => html`<p class="caption">${summary ?? html`<code>${name}</code>`}</p>
${renderCode(formatJson(value), 'JSON')}`,
  );
}
