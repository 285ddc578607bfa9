import { marked } from 'marked';
import { listAnswers } from '../../openapi/answers.ts';
import { listParameters, type Parameter } from '../../openapi/parameters.ts';
import type { Operation } from '../../operation.ts';
import { formatJson, renderCode } from '../code.ts';
import { writeSamples } from '../files/samples.js';
import { renderDocument, toAnchor } from '../markdown.ts';
import { type Content, html, type Markup, trusted } from '../markup.ts';
import { writeIntroduction, writeMarks, writeProse } from './operation-markdown.ts';
import { chooseRequest, nameKind, type SampleRequest } from './samples.ts';

/** Renders the page of an operation. The samples use `baseUrl`, and the try-it form uses `callUrl`. */
export function renderOperation(operation: Operation, baseUrl: string, callUrl: string): Markup {
  const { method, path, summary } = operation;
  const request = chooseRequest(operation, baseUrl);
  const samples = writeSamples(request).map(
    ({ language, code }) => [language, renderCode(code, language)] as const,
  );
  return html`<article class="operation">
<div class="intro">
${renderDocument(`# ${summary}${writeMarks(operation)}`)}
<p class="address"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
${renderDocument(writeIntroduction(operation))}
</div>
<div class="side">
<div class="code">
<h2 class="unseen">Code</h2>
<section class="samples" aria-label="Request">${renderTabs('language', 'Language', samples)}</section>
<section aria-label="Example response">${renderTabs('status', 'Status of the response', listExamples(operation))}</section>
</div>
${renderTryIt(operation, request, callUrl)}
</div>
<div class="prose">
${renderProse(writeProse(operation))}
</div>
</article>`;
}

type Tab = readonly [label: string, content: Content];

function listExamples(operation: Operation): Tab[] {
  const answers = listAnswers(operation).filter(({ status }) => status !== 304);
  return answers.map(({ status, description, examples }) => {
    const none = html`<p class="caption">${trusted(marked.parseInline(description, { async: false }))} No body.</p>`;
    const parts = Object.entries(examples ?? {}).map(
      ([name, { summary = html`<code>${name}</code>`, value }]) =>
        html`<p class="caption">${summary}</p>\n${renderCode(formatJson(value), 'JSON')}`,
    );
    return [String(status), examples === undefined ? none : parts];
  });
}

/** Renders tabs as radio buttons, which work with the keyboard and without scripts. `name` must be unique on the page. */
function renderTabs(name: string, legend: string, tabs: readonly Tab[]): Markup {
  const isRare = ([label]: Tab) => rareStatuses.has(label);
  const render = (tab: Tab, index: number) => {
    const [label, content] = tab;
    const id = `${name}-${label.toLowerCase()}`;
    const checked = index === 0 && html` checked`;
    const rare = isRare(tab) && html` class="rare"`;
    return html`<input type="radio" name="${name}" id="${id}" value="${label}"${checked}${rare}><label for="${id}"${rare}>${label}</label>
<div class="panel">${content}</div>`;
  };
  const { rare = [], usual = [] } = Object.groupBy(tabs, (tab) => (isRare(tab) ? 'rare' : 'usual'));
  const more =
    rare.length > 0 && html`<input type="checkbox" id="${name}-more"><label for="${name}-more">more</label>`;
  const parts = [...usual.map(render), more, ...rare.map((tab) => render(tab, -1))];
  return html`<fieldset class="tabs"><legend class="unseen">${legend}</legend>${parts}</fieldset>`;
}

/** The statuses that the tabs show only on request. */
const rareStatuses: ReadonlySet<string> = new Set(['405', '408', '413', '415', '431', '500', '503']);

/** The start of a list item: the name and the type of a field, or the name of one of several kinds of objects. */
const itemStart = /^(?:`(?<field>[^`]+)` \*|\*\*(?<kind>\w+)\*\*)/;

/** Renders the Markdown of `writeProse`. Each field has an anchor, such as `query.limit`. */
function renderProse(text: string): Markup {
  /** The parts of an anchor: that of the heading, then the names of the fields around. */
  let place: readonly string[] = [];
  const nameAnchor = (heading: string) => {
    place = [nameHeading(heading)];
    return place.join('.');
  };
  return renderDocument(text, nameAnchor, {
    listitem({ text: item, tokens: [own, ...others] }) {
      const line = own !== undefined && 'tokens' in own ? this.parser.parseInline(own.tokens ?? []) : item;
      const { field, kind } = itemStart.exec(item)?.groups ?? {};
      const around = place;
      place = [...around, ...[field ?? kind ?? []].flat()];
      const anchor = place.join('.');
      const content = trusted(this.parser.parse(others));
      place = around;
      const folded = (summary: Markup) =>
        others.length > 0 &&
        html`<details class="nested"${kind && html` open`}><summary>${summary}</summary>${content}</details>`;
      if (field === undefined) return html`<li>${folded(trusted(line)) || trusted(line)}</li>`.markup;
      const linked = line.replace(/^<code[^>]*>.*?<\/code>/, `<a href="#${anchor}">$&</a>`);
      return html`<li id="${anchor}">${trusted(linked)}${folded(html`Fields of <code>${field}</code>`)}</li>\n`
        .markup;
    },
  });
}

/** Names the anchor of a heading: `path`, `query` and `header` for parameters, `response.200` for a response. */
function nameHeading(heading: string): string {
  const [, status] = /^`(\d+)`/.exec(heading) ?? [];
  if (status !== undefined) return `response.${status}`;
  return toAnchor(heading.replace(/ parameters$|(?<=^Header)s$/, ''));
}

/** Maximum line length of the example body. It is so short that each field gets its own line. */
const bodyLineLength = 16;

/** Renders the form that try-it.js shows. Ids and optional inputs are empty, so that nobody sends one by accident. */
function renderTryIt(operation: Operation, request: SampleRequest, callUrl: string): Markup {
  const { body, bodyExamples = {}, isDrastic, summary } = operation;
  const [example] = Object.values(bodyExamples);
  const question = isDrastic && html` data-question="${summary}"`;
  return html`<section id="try" class="try" aria-labelledby="try-title" hidden>
<h2 id="try-title">Try it</h2>
<form data-base="${callUrl}" data-request="${JSON.stringify(request)}"${question}>
<p class="field key"><label for="try-key">API key</label>
<input id="try-key" name="key" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="as_…" aria-describedby="try-key-note">
<span class="note" id="try-key-note">Kept for this tab only.</span></p>
${listParameters(operation).map(renderInput)}
${body && html`<p class="field"><label for="try-body">Body</label><textarea id="try-body" name="body" spellcheck="false" rows="6">${formatJson(example?.value, bodyLineLength)}</textarea></p>`}
<p><button type="submit">Send</button> <span class="note" role="alert"></span><span class="note" role="status"></span></p>
</form>
<div class="answer" role="region" aria-label="Response" tabindex="-1"></div>
</section>`;
}

function renderInput(parameter: Parameter): Markup {
  const { place, name, schema } = parameter;
  const isRequired = place === 'path';
  const id = `try-${place}-${name}`;
  const common = html`id="${id}" name="${name}" data-place="${place}" data-kind="${nameKind(parameter)}"`;
  const hint = String(schema.examples?.[0] ?? '');
  const input =
    schema.enum === undefined
      ? html`<input ${common} type="text" autocomplete="off" spellcheck="false" placeholder="${isRequired ? `such as ${hint}` : hint}">`
      : html`<select ${common}><option value=""></option>${schema.enum.map((choice) => html`<option>${String(choice)}</option>`)}</select>`;
  return html`<p class="field"><label for="${id}">${name}</label>
${input}
<span class="note">${isRequired ? `required, in the ${place}` : place}</span></p>`;
}
