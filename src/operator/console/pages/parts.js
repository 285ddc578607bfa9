import { useEffect, useState } from 'preact/hooks';
import { saveCsv } from './csv.js';
import { html } from './html.js';
import { goTo, linkTo } from './routing.js';

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
 * A table, whose rows can be saved as a CSV file. Each column is `{ title, cell(row), by?, isNumber?, isTime?, isMinor? }`. A click
 * on the title of a column with `by`, the name of a field, sorts the rows of this page. Narrow screens omit minor columns.
 * `empty` is the text for a table without rows.
 */
export function Table({ caption, columns, rows, empty }) {
  const [order, setOrder] = useState({ by: null, isDown: false });
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const sorted = order.by === null ? rows : rows.toSorted((one, other) => compare(one, other, order));
  const classOf = ({ isNumber, isTime, isMinor }) =>
    [isNumber && 'number', isTime && 'time', isMinor && 'minor'].filter(Boolean).join(' ') || undefined;
  const head = (column) =>
    html`<th scope="col" class=${classOf(column)} aria-sort=${describeOrder(column, order)}>
      ${
        column.by === undefined
          ? column.title
          : html`<button type="button" class="sort" onClick=${() => setOrder(nextOrder(column, order))}>${column.title}</button>`
      }
    </th>`;
  return html`<div class="scroll" role="group" aria-label=${caption} tabindex="0">
    <table>
      <caption class="unseen">${caption}</caption>
      <thead>
        <tr>${columns.map(head)}</tr>
      </thead>
      <tbody>
        ${sorted.map(
          (row) =>
            html`<tr key=${row.id}>
              ${columns.map((column) => html`<td class=${classOf(column)}>${column.cell(row)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>
  <button type="button" class="csv" onClick=${() => saveCsv(caption, sorted)}>CSV of this page</button>`;
}

function nextOrder({ by }, order) {
  return { by, isDown: order.by === by && !order.isDown };
}

function describeOrder({ by }, order) {
  if (by === undefined || by !== order.by) return undefined;
  return order.isDown ? 'descending' : 'ascending';
}

/** Texts of digits, such as ids, are compared as numbers. */
const texts = new Intl.Collator('en', { numeric: true });

function compare(one, other, { by, isDown }) {
  const [first, second] = isDown ? [other[by], one[by]] : [one[by], other[by]];
  const areNumbers = typeof first === 'number' && typeof second === 'number';
  return areNumbers ? first - second : texts.compare(first ?? '', second ?? '');
}

/**
 * Links to the next page, the previous one and the first. The query parameter `back` has the starts of the earlier pages,
 * because the API can only go on.
 */
export function Pager({ parts, query, next }) {
  const { before, back = '', ...filters } = query;
  if (next === null && before === undefined) return null;
  const starts = back.split('~');
  const last = { before: starts.at(-1), back: starts.slice(0, -1).join('~') };
  return html`<nav class="pager" aria-label="Pages">
    ${before !== undefined && html`<a href=${linkTo(parts, filters)}>First page</a>`}
    ${before !== undefined && html`<a rel="prev" href=${linkTo(parts, { ...filters, ...last })}>Previous page</a>`}
    ${
      next !== null &&
      html`<a rel="next" href=${linkTo(parts, { ...filters, before: next, back: before === undefined ? '' : [...starts, before].filter(Boolean).join('~') })}>Next page</a>`
    }
  </nav>`;
}

/** A link to an account. A deleted account has no page. */
export function AccountLink({ account }) {
  if (account === null) return '–';
  if (isDeleted(account)) return html`<span class="quiet">${account}</span>`;
  return html`<a class="text" href=${linkTo(['accounts', account])}>${account}</a>`;
}

/** True for the name of a deleted account. No other account may have such a name. */
export function isDeleted(account) {
  return /^deleted-\d+$/.test(account);
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

const isWide = matchMedia('(width >= 48rem)');

/**
 * The filters of a list, which "Show" writes into the address. A narrow screen shows them only on demand, because the list
 * matters first.
 */
export function Filters({ parts, query, label, children }) {
  function apply(event) {
    event.preventDefault();
    goTo(parts, readForm(event.target));
  }
  const [isOpen, setOpen] = useState(isWide.matches);
  useEffect(() => {
    const follow = () => setOpen(isWide.matches);
    isWide.addEventListener('change', follow);
    return () => isWide.removeEventListener('change', follow);
  }, []);
  return html`<details class="fold" open=${isOpen} key=${JSON.stringify(query)}>
    <summary>Filter</summary>
    <form class="filters" onSubmit=${apply} role="search" aria-label=${label}>
      ${children}
      <button type="submit">Show</button>
    </form>
  </details>`;
}

/** A text by which a list is filtered. Other attributes belong to the input. */
export function TextFilter({ name, label, query, ...attributes }) {
  return html`<${Field} id=${`filter-${name}`} label=${label}>
    <input id=${`filter-${name}`} name=${name} type="search" maxlength="255" value=${query[name] ?? ''} ...${attributes} />
  <//>`;
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
