import { html } from './html.js';
import { linkTo } from './routing.js';

/** The heading of a page. `children` are its buttons. */
export function PageHead({ title, children }) {
  return html`<div class="page-head"><h1 tabindex="-1">${title}</h1><div class="acts">${children}</div></div>`;
}

/** An error message. With `onRetry`, it has a button to retry. */
export function Failure({ failure, onRetry }) {
  return html`<div class="failure" role="alert">
    <p>${failure.message}</p>
    ${onRetry && html`<button type="button" onClick=${onRetry}>Try again</button>`}
  </div>`;
}

/**
 * Shows the state of a resource: "Loading…", its failure, and the result of `children(data, now)` once there is data.
 */
export function Loaded({ resource, children }) {
  const { data, failure, reload, now } = resource;
  return html`${failure && html`<${Failure} failure=${failure} onRetry=${reload} />`}
  ${data === null && !failure && html`<p class="quiet" role="status">Loading…</p>`}
  ${data !== null && children(data, now)}`;
}

/**
 * A table. Each column is `{ title, cell(row), isNumber?, isMinor? }`. Narrow screens omit minor columns. `empty` is
 * the text for a table without rows.
 */
export function Table({ caption, columns, rows, empty }) {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const classOf = ({ isNumber, isMinor }) =>
    [isNumber && 'number', isMinor && 'minor'].filter(Boolean).join(' ') || undefined;
  return html`<div class="scroll" role="group" aria-label=${caption} tabindex="0">
    <table>
      <caption class="unseen">${caption}</caption>
      <thead>
        <tr>${columns.map((column) => html`<th scope="col" class=${classOf(column)}>${column.title}</th>`)}</tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr key=${row.id}>
              ${columns.map((column) => html`<td class=${classOf(column)}>${column.cell(row)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Links to the next page and back to the first. */
export function Pager({ parts, query, next, nextLabel = 'Next page' }) {
  if (next === null && query.before === undefined) return null;
  return html`<nav class="pager" aria-label="Pages">
    ${
      query.before !== undefined &&
      html`<a href=${linkTo(parts, { ...query, before: undefined })}>First page</a>`
    }
    ${next !== null && html`<a rel="next" href=${linkTo(parts, { ...query, before: next })}>${nextLabel}</a>`}
  </nav>`;
}

/** A word in a colour. `kind` is `good`, `warn`, `bad` or empty. */
export function Badge({ kind, children }) {
  return html`<span class=${`badge ${kind ?? ''}`}>${children}</span>`;
}

const kinds = {
  available: 'good',
  pending: 'warn',
  sold: '',
  reserved: 'warn',
  completed: 'good',
  active: 'good',
  enabled: 'good',
  banned: 'bad',
  suspended: 'bad',
  disabled: 'bad',
};

export function State({ state }) {
  return html`<${Badge} kind=${kinds[state]}>${state}<//>`;
}

/** A list of names and values. `facts` are `[name, value]` pairs. */
export function Facts({ facts }) {
  return html`<dl class="facts">
    ${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

/** A form field with its label. `children` is the input element, which must have the same `id`. */
export function Field({ id, label, hint, children }) {
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${children}
    ${hint && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}
  </div>`;
}

/**
 * A select field. `all` is the label of an empty value, which means no filter. Without `all`, there is no empty value.
 */
export function Choice({ id, label, name, value, choices, all }) {
  return html`<${Field} id=${id} label=${label}>
    <select id=${id} name=${name}>
      ${all && html`<option value="" selected=${!value}>${all}</option>`}
      ${choices.map((choice) => html`<option value=${choice} selected=${choice === value}>${choice}</option>`)}
    </select>
  <//>`;
}

/** Returns the values of a form by field name. Omits empty values. */
export function readForm(form) {
  const values = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
  return Object.fromEntries(values.filter(([, value]) => value !== ''));
}
