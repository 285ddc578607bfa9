import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { goTo, type Query } from './routing.ts';

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly children?: ComponentChildren;
}

/** A form field with its label. `children` is the input element, which must have the same `id`. */
export function Field({ id, label, children }: FieldProps) {
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${children}
  </div>`;
}

const isWide = matchMedia('(width >= 48rem)');

interface FiltersProps {
  readonly parts: readonly string[];
  readonly query: Query;
  readonly label: string;
  readonly children?: ComponentChildren;
}

/**
 * The filters of a list, which "Show" writes into the address. A narrow screen shows them only on demand, because the list
 * matters first.
 */
export function Filters({ parts, query, label, children }: FiltersProps) {
  function apply(event: Event) {
    event.preventDefault();
    goTo(parts, readForm(event));
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

interface TextFilterProps {
  readonly name: string;
  readonly label: string;
  readonly query: Query;
  /** The others belong to the input. */
  readonly [attribute: string]: unknown;
}

/** A text by which a list is filtered. */
export function TextFilter({ name, label, query, ...attributes }: TextFilterProps) {
  const id = `filter-${name}`;
  return html`<${Field} id=${id} label=${label}>
    <input id=${id} name=${name} type="search" maxlength="255" value=${query[name] ?? ''} ...${attributes} />
  <//>`;
}

interface ChoiceProps {
  readonly id: string;
  readonly label: string;
  readonly name: string;
  readonly value?: string;
  readonly choices: readonly string[];
  /** The label of an empty value, such as no filter. Without it, there is no empty value. */
  readonly all?: string;
}

/** A select field. */
export function Choice({ id, label, name, value, choices, all }: ChoiceProps) {
  const option = (choice: string) =>
    html`<option value=${choice} selected=${choice === value}>${choice}</option>`;
  return html`<${Field} id=${id} label=${label}>
    <select id=${id} name=${name}>
      ${all && html`<option value="" selected=${!value}>${all}</option>`}
      ${choices.map(option)}
    </select>
  <//>`;
}

/** The values of a form by field name. Fields without a value are absent. */
export type Form = Readonly<Partial<Record<string, string>>>;

/** Returns the values of the form that an event submits. */
export function readForm({ target }: Event): Form {
  if (!(target instanceof HTMLFormElement)) return {};
  const values = Array.from(new FormData(target), ([name, value]) => [name, String(value)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== ''));
}

/** Returns the value of the select field whose choice has changed. */
export function readChoice({ target }: Event): string {
  return target instanceof HTMLSelectElement ? target.value : '';
}
