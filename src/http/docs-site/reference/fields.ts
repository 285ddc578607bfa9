import { renderInline } from '../markdown.ts';
import { type Content, html, type Markup } from '../markup.ts';
import type { Description, Parameter, Schema } from './description.ts';
import { listRules, nameType } from './field-words.ts';

/** A field or a parameter of the reference. */
interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly description: string;
  /** `required` for required input, `may be absent` for optional output, otherwise null. */
  readonly presence: string | null;
  readonly isBeta: boolean;
}

/** Maximum nesting of objects on a page. No schema of the API is nested deeper. */
const depthMax = 4;

/**
 * Renders parameters of the same place (path, query or header) as a definition list. Anchors have the form
 * `query.limit`.
 */
export function renderParameters(parameters: readonly Parameter[], description: Description): Markup {
  const fields = parameters.map((parameter) => ({
    name: parameter.name,
    schema: parameter.schema,
    description: parameter.description ?? description.resolve(parameter.schema).description ?? '',
    presence: parameter.required === true ? 'required' : null,
    isBeta: parameter['x-stability'] === 'beta',
  }));
  return renderFields(fields, parameters[0]?.in ?? '', description, 0);
}

/** Renders the fields of an object, of the items of an array, or of each variant. Anchors begin with `prefix`. */
export function renderSchema(schema: Schema, prefix: string, description: Description, depth = 0): Content {
  const { items, anyOf, oneOf, properties, required = [] } = description.resolve(schema);
  if (items !== undefined) return renderSchema(items, prefix, description, depth);
  const variants = anyOf ?? oneOf;
  if (variants !== undefined) return renderVariants(variants, prefix, description, depth);
  if (properties === undefined) return null;
  const fields = Object.entries(properties).map(([name, field]) => ({
    name,
    schema: field,
    description: field.description ?? description.resolve(field).description ?? '',
    presence: namePresence(required.includes(name), prefix),
    isBeta: false,
  }));
  return renderFields(fields, prefix, description, depth);
}

function renderVariants(
  variants: readonly Schema[],
  prefix: string,
  description: Description,
  depth: number,
): Content {
  const objects = variants.filter((variant) => description.resolve(variant).properties !== undefined);
  return objects.map((variant) => {
    const name = variant.$ref?.split('/').at(-1) ?? 'Object';
    const fields = renderSchema(variant, `${prefix}.${name}`, description, depth + 1);
    return html`<details class="nested" open><summary>${name}: ${description.resolve(variant).description}</summary>${fields}</details>`;
  });
}

function renderFields(
  fields: readonly Field[],
  prefix: string,
  description: Description,
  depth: number,
): Markup {
  return html`<dl class="fields">${fields.map((field) => renderField(field, prefix, description, depth))}</dl>`;
}

function renderField(field: Field, prefix: string, description: Description, depth: number): Markup {
  const { name, schema, presence, isBeta } = field;
  const anchor = `${prefix}.${name}`;
  const rules = listRules(schema, description);
  const nested = depth < depthMax ? renderSchema(schema, anchor, description, depth + 1) : null;
  return html`<div id="${anchor}"><dt><a href="#${anchor}"><code>${name}</code></a> <span class="type">${nameType(schema, description)}</span>${
    presence !== null && html` <span class="presence">${presence}</span>`
  }${isBeta && html` <span class="mark beta">beta</span>`}</dt>
<dd>${field.description !== '' && html`<p>${renderInline(field.description)}</p>`}${
    rules.length > 0 && html`<p class="rules">${renderInline(toSentence(rules))}</p>`
  }${
    nested !== null &&
    html`<details class="nested"><summary>Fields of <code>${name}</code></summary>${nested}</details>`
  }</dd></div>`;
}

function namePresence(isRequired: boolean, prefix: string): string | null {
  if (prefix.startsWith('answer')) return isRequired ? null : 'may be absent';
  return isRequired ? 'required' : null;
}

function toSentence(rules: readonly string[]): string {
  const text = rules.join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
