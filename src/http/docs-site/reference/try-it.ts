import { type Content, html, type Markup } from '../markup.ts';
import type { DescribedOperation, Parameter, Schema } from './description.ts';
import { formatJson } from './json.ts';
import type { ReferenceContext } from './operation-page.ts';

/** Maximum line length of the example body. It is so short that each field gets its own line. */
const bodyLineLength = 16;

/**
 * Renders the form that calls the service. The form is hidden until try-it.js shows it. Only required inputs are filled
 * in, so that nobody sends an optional value by accident.
 */
export function renderTryIt(
  operation: DescribedOperation,
  { callUrl, description }: ReferenceContext,
): Markup {
  const { method, path, parameters, body } = operation;
  const example = Object.values(body?.media.examples ?? {})[0]?.value;
  return html`<section id="try" class="try" aria-labelledby="try-title" hidden>
<h2 id="try-title">Try it</h2>
<form data-method="${method}" data-path="${path}" data-base="${callUrl}" data-type="${body?.types[0]}">
<p class="field key"><label for="try-key">API key</label>
<input id="try-key" name="key" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="as_…" aria-describedby="try-key-note">
<span class="note" id="try-key-note">Kept for this tab only.</span></p>
${parameters.map((parameter) => renderInput(parameter, description.resolve(parameter.schema)))}
${body !== null && html`<p class="field"><label for="try-body">Body</label><textarea id="try-body" name="body" spellcheck="false" rows="6">${formatJson(example, bodyLineLength)}</textarea></p>`}
<p><button type="submit">Send</button> <span class="note" role="alert"></span></p>
</form>
<div class="answer" aria-live="polite"></div>
</section>`;
}

function renderInput(parameter: Parameter, schema: Schema): Markup {
  const { name, in: place, required = false, example } = parameter;
  const id = `try-${place}-${name}`;
  const given = { place, name, id, isRequired: required };
  return html`<p class="field"><label for="${id}">${name}</label>
${schema.enum === undefined ? renderText(given, example) : renderChoice(given, schema.enum)}
<span class="note">${required ? `required, in the ${place}` : place}</span></p>`;
}

interface Input {
  readonly place: string;
  readonly name: string;
  readonly id: string;
  readonly isRequired: boolean;
}

function renderText({ place, name, id, isRequired }: Input, example: unknown): Markup {
  const value = isRequired && html` value="${String(example ?? '')}"`;
  const hint = example === undefined ? '' : String(example);
  return html`<input id="${id}" name="${name}" data-place="${place}" type="text" autocomplete="off" spellcheck="false" placeholder="${hint}"${value}>`;
}

function renderChoice({ place, name, id }: Input, choices: readonly unknown[]): Markup {
  const options: Content = choices.map((choice) => html`<option>${String(choice)}</option>`);
  return html`<select id="${id}" name="${name}" data-place="${place}"><option value=""></option>${options}</select>`;
}
