import type { Schema } from '../../openapi/parameters.ts';
import { renderInline } from '../markdown.ts';
import { type Content, html, type Markup } from '../markup.ts';
import { listRules, nameType } from './field-words.ts';

/** A field or a parameter of the reference. */
interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/**
 * Renders the fields of an object, of the items of an array, or of each variant. Anchors begin with `prefix`. Returns
 * null for a schema without fields.
 */
export function renderSchema({ items, anyOf, properties, required = [] }: Schema, prefix: string): Content {
  if (items !== undefined) return renderSchema(items, prefix);
  if (anyOf !== undefined) return renderVariants(anyOf, prefix);
  if (properties === undefined) return null;
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    isRequired: required.includes(name),
  }));
  return renderFields(fields, prefix);
}

function renderVariants(variants: readonly Schema[], prefix: string): Content {
  const objects = variants.filter(({ properties }) => properties !== undefined);
  if (objects.length === 0) return null;
  return objects.map((variant) => {
    const { title = 'Object', about = variant.description } = variant;
    const fields = renderSchema(variant, `${prefix}.${title}`);
    return html`<details class="nested" open><summary>${title}: ${about}</summary>${fields}</details>`;
  });
}

/** Renders fields as a definition list. Their anchors have the form `query.limit`. */
export function renderFields(fields: readonly Field[], prefix: string): Markup {
  return html`<dl class="fields">${fields.map((field) => renderField(field, prefix))}</dl>`;
}

function renderField({ name, schema, isRequired }: Field, prefix: string): Markup {
  const anchor = `${prefix}.${name}`;
  const { description = '', 'x-stability': stability } = schema;
  const rules = listRules(schema);
  const nested = renderSchema(schema, anchor);
  const presence = prefix.startsWith('answer') ? !isRequired && 'may be absent' : isRequired && 'required';
  return html`<div id="${anchor}"><dt><a href="#${anchor}"><code>${name}</code></a> <span class="type">${nameType(schema)}</span>${
    presence && html` <span class="presence">${presence}</span>`
  }${stability === 'beta' && html` <span class="mark beta">beta</span>`}</dt>
<dd>${description !== '' && html`<p>${renderInline(description)}</p>`}${
    rules.length > 0 && html`<p class="rules">${renderInline(toSentence(rules))}</p>`
  }${
    nested !== null &&
    html`<details class="nested"><summary>Fields of <code>${name}</code></summary>${nested}</details>`
  }</dd></div>`;
}

function toSentence(rules: readonly string[]): string {
  const text = rules.join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
