import { listParameters, type Parameter } from '../../openapi/parameters.ts';
import type { Operation } from '../../operation.ts';
import { formatJson } from '../code.ts';
import type { SampleRequest } from '../files/samples.js';
import { html, type Markup } from '../markup.ts';
import { nameKind } from './samples.ts';

/** Maximum line length of the example body. It is so short that each field gets its own line. */
const bodyLineLength = 16;

/**
 * Renders the form that calls the service. The form is hidden until try-it.js shows it. Only required inputs are filled
 * in, so that nobody sends an optional value by accident.
 */
export function renderTryIt(operation: Operation, request: SampleRequest, callUrl: string): Markup {
  const { body, bodyExamples = {} } = operation;
  const [example] = Object.values(bodyExamples);
  return html`<section id="try" class="try" aria-labelledby="try-title" hidden>
<h2 id="try-title">Try it</h2>
<form data-base="${callUrl}" data-request="${JSON.stringify(request)}">
<p class="field key"><label for="try-key">API key</label>
<input id="try-key" name="key" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="as_…" aria-describedby="try-key-note">
<span class="note" id="try-key-note">Kept for this tab only.</span></p>
${listParameters(operation).map(renderInput)}
${body && html`<p class="field"><label for="try-body">Body</label><textarea id="try-body" name="body" spellcheck="false" rows="6">${formatJson(example?.value, bodyLineLength)}</textarea></p>`}
<p><button type="submit">Send</button> <span class="note" role="alert"></span></p>
</form>
<div class="answer" aria-live="polite"></div>
</section>`;
}

function renderInput(parameter: Parameter): Markup {
  const { place, name, schema } = parameter;
  const isRequired = place === 'path';
  const id = `try-${place}-${name}`;
  const common = html`id="${id}" name="${name}" data-place="${place}" data-kind="${nameKind(parameter)}"`;
  const hint = String(schema.examples?.[0] ?? '');
  const value = isRequired && html` value="${hint}"`;
  const input =
    schema.enum === undefined
      ? html`<input ${common} type="text" autocomplete="off" spellcheck="false" placeholder="${hint}"${value}>`
      : html`<select ${common}><option value=""></option>${schema.enum.map((choice) => html`<option>${String(choice)}</option>`)}</select>`;
  return html`<p class="field"><label for="${id}">${name}</label>
${input}
<span class="note">${isRequired ? `required, in the ${place}` : place}</span></p>`;
}
