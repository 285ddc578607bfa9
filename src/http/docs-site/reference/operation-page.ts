import { type DescribedAnswer, listAnswers } from '../../openapi/answers.ts';
import { commonCodes } from '../../openapi/failures.ts';
import { responseHeaders } from '../../openapi/headers.ts';
import { listParameters, type Place } from '../../openapi/parameters.ts';
import type { Operation } from '../../operation.ts';
import { jsonTypes } from '../../request/body.ts';
import { formatJson, renderCode, renderTabs } from '../code.ts';
import { writeSamples } from '../files/samples.js';
import { renderDescription, renderInline } from '../markdown.ts';
import { type Content, html, join, type Markup } from '../markup.ts';
import { renderFields, renderSchema } from './fields.ts';
import { chooseRequest } from './samples.ts';
import { renderTryIt } from './try-it.ts';

/** The addresses in the pages of all operations. */
export interface ReferenceAddresses {
  /** Base URL in the samples. */
  readonly baseUrl: string;
  /** Base URL for the try-it form, absolute or relative to the page. */
  readonly callUrl: string;
}

/** Returns the name of an operation in URLs, such as `list-pets`. */
export function nameAddress({ id }: Pick<Operation, 'id'>): string {
  return id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Renders the page of an operation, at `/docs/reference/…`. */
export function renderOperation(operation: Operation, { baseUrl, callUrl }: ReferenceAddresses): Markup {
  const { method, path, summary, description } = operation;
  const answers = listAnswers(operation);
  return html`<article class="operation">
<div class="intro">
<h1>${summary}${renderMarks(operation)}</h1>
<p class="address"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
${renderDescription(description)}
${renderScopes(operation)}
</div>
<div class="side">
<div class="code">
<h2 class="unseen">Code</h2>
<section class="samples" aria-label="Request">${renderSamples(operation, baseUrl)}</section>
<section aria-label="Answer">${renderExamples(answers)}</section>
</div>
${renderTryIt(operation, { baseUrl, callUrl })}
</div>
<div class="prose">
${renderPlace(operation, 'path', 'Path parameters')}
${renderPlace(operation, 'query', 'Query parameters')}
${renderPlace(operation, 'header', 'Headers')}
${renderBody(operation)}
<h2 id="answers"><a href="#answers">Answers</a></h2>
${answers.filter(({ status }) => status < 400).map(renderAnswer)}
<p>Every answer has <a href="./headers">these headers</a> too.</p>
${renderFailures(answers)}
</div>
</article>`;
}

/** Renders the marks of an operation: beta and deprecated. */
export function renderMarks({ stability, deprecation }: Operation): Content {
  const removedOn = deprecation && new Date(deprecation.removedAtMs).toISOString().slice(0, 10);
  return [
    stability === 'beta' && html` <span class="mark beta">beta</span>`,
    removedOn && html` <span class="mark deprecated">deprecated, removed on ${removedOn}</span>`,
  ];
}

function renderScopes({ scope }: Operation): Markup {
  if (scope === null) return html`<p class="scope">Any API key may call this operation.</p>`;
  const names = [scope].flat().map((one) => html`<a href="../authentication#scopes"><code>${one}</code></a>`);
  return html`<p class="scope">Needs a key with the scope ${join(names, ' or ')}.</p>`;
}

function renderPlace(operation: Operation, place: Place, title: string): Content {
  const own = listParameters(operation)
    .filter((parameter) => parameter.place === place)
    .map((parameter) => ({ ...parameter, isRequired: place === 'path' }));
  if (own.length === 0) return null;
  return html`<h2 id="${place}"><a href="#${place}">${title}</a></h2>
${renderFields(own, place)}`;
}

function renderBody({ body, bodyTypes = jsonTypes.plain }: Operation): Content {
  if (body === undefined) return null;
  const types = bodyTypes.map((type) => html`<code>${type}</code>`);
  return html`<h2 id="body"><a href="#body">Body</a></h2>
<p>${join(types, ' or ')}</p>
${renderSchema(body, 'body')}`;
}

function renderAnswer({ status, description, body, headers }: DescribedAnswer): Markup {
  const own = headers.map((name) => ({ name: name.replace(/^.+Link$/, 'Link'), ...responseHeaders[name] }));
  return html`<h3 id="answer.${status}"><a href="#answer.${status}"><code>${status}</code></a> ${renderInline(description)}</h3>
${body && 'items' in body && html`<p>An array. Each item has these fields:</p>`}
${body && renderSchema(body, `answer.${status}`)}
${
  own.length > 0 &&
  html`<details class="nested"><summary>Headers of this answer</summary><dl class="fields">${own.map(
    (header) =>
      html`<div><dt><code>${header.name}</code></dt><dd><p>${renderInline(header.description)}</p></dd></div>`,
  )}</dl></details>`
}`;
}

interface Failure {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

function renderFailures(answers: readonly DescribedAnswer[]): Markup {
  const all = answers
    .filter(({ status }) => status >= 400)
    .flatMap(({ examples = {} }) => Object.values(examples).map(({ value }) => value as Failure));
  const { own = [], common = [] } = Object.groupBy(all, ({ code }) =>
    commonCodes.has(code) ? 'common' : 'own',
  );
  return html`<h2 id="errors"><a href="#errors">Errors</a></h2>
${own.length > 0 && renderCodes(own)}
<details class="nested"${own.length === 0 && html` open`}><summary>Errors of every operation</summary>
${renderCodes(common)}</details>`;
}

function renderCodes(failures: readonly Failure[]): Markup {
  const rows = failures.map(
    ({ status, code, message }) =>
      html`<tr><td>${status}</td><td><a href="../errors#${code}"><code>${code}</code></a></td>
<td>${message}</td></tr>
`,
  );
  return html`<div class="table" tabindex="0"><table><thead><tr><th>Status</th><th>Code</th><th>Example message</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

function renderSamples(operation: Operation, baseUrl: string): Markup {
  const tabs = writeSamples(chooseRequest(operation, baseUrl)).map(({ language, code }) => ({
    label: language,
    content: renderCode(code, language),
  }));
  return renderTabs('language', 'Language', tabs);
}

function renderExamples(answers: readonly DescribedAnswer[]): Markup {
  const tabs = answers
    .filter(({ status }) => status !== 304)
    .map(({ status, description, examples }) => ({
      label: String(status),
      content:
        examples === undefined
          ? html`<p class="caption">${renderInline(description)} No body.</p>`
          : Object.entries(examples).map(
              ([
                name,
                { summary, value },
              ]) => html`<p class="caption">${summary ?? html`<code>${name}</code>`}</p>
${renderCode(formatJson(value), 'JSON')}`,
            ),
    }));
  return renderTabs('status', 'Status of the answer', tabs);
}
