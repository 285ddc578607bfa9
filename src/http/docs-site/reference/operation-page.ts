import { listAnswers } from '../../openapi/answers.ts';
import type { Operation } from '../../operation.ts';
import { formatJson, renderCode, renderTabs } from '../code.ts';
import { type SampleRequest, writeSamples } from '../files/samples.js';
import { renderDocument, renderInline } from '../markdown.ts';
import { html, type Markup } from '../markup.ts';
import { writeIntroduction, writeMarks, writeProse } from './operation-markdown.ts';
import { renderProse } from './prose.ts';
import { chooseRequest } from './samples.ts';
import { renderTryIt } from './try-it.ts';

/** Returns the name of an operation in URLs, such as `list-pets`. */
export function nameAddress({ id }: Pick<Operation, 'id'>): string {
  return id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * Renders the page of an operation, at `/docs/reference/…`. `baseUrl` is the base URL in the samples, and `callUrl` that of
 * the try-it form, absolute or relative to the page.
 */
export function renderOperation(operation: Operation, baseUrl: string, callUrl: string): Markup {
  const { method, path, summary } = operation;
  const request = chooseRequest(operation, baseUrl);
  return html`<article class="operation">
<div class="intro">
${renderDocument(`# ${summary}${writeMarks(operation)}`)}
<p class="address"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
${renderDocument(writeIntroduction(operation))}
</div>
<div class="side">
<div class="code">
<h2 class="unseen">Code</h2>
<section class="samples" aria-label="Request">${renderSamples(request)}</section>
<section aria-label="Answer">${renderExamples(operation)}</section>
</div>
${renderTryIt(operation, request, callUrl)}
</div>
<div class="prose">
${renderProse(writeProse(operation))}
</div>
</article>`;
}

function renderSamples(request: SampleRequest): Markup {
  const tabs = writeSamples(request).map(
    ({ language, code }) => [language, renderCode(code, language)] as const,
  );
  return renderTabs('language', 'Language', tabs);
}

function renderExamples(operation: Operation): Markup {
  const tabs = listAnswers(operation)
    .filter(({ status }) => status !== 304)
    .map(({ status, description, examples }) => {
      const parts = Object.entries(examples ?? {}).map(([name, { summary, value }]) => {
        const caption = summary ?? html`<code>${name}</code>`;
        return html`<p class="caption">${caption}</p>\n${renderCode(formatJson(value), 'JSON')}`;
      });
      const none = html`<p class="caption">${renderInline(description)} No body.</p>`;
      return [String(status), examples === undefined ? none : parts] as const;
    });
  return renderTabs('status', 'Status of the answer', tabs);
}
