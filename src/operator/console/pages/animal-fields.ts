import { html } from 'htm/preact';
import type { InputOf } from './api.ts';
import { Choice, Field, type Form } from './fields.ts';
import type { Session } from './session.ts';

/** How a form shows a field of an animal. */
export type Input = Session['declared']['petInputs'][number];

interface PetInputProps {
  readonly input: Input;
  /** Absent for a new animal. */
  readonly value?: string;
}

export function PetInput({ input: { field, label, isInt64, choices }, value }: PetInputProps) {
  const id = `edit-${field}`;
  const title = capitalise(label);
  if (choices !== null)
    return html`<${Choice} id=${id} label=${title} name=${field} value=${value} choices=${choices} />`;
  return html`<${Field} id=${id} label=${title}>
    <input id=${id} name=${field} inputmode=${isInt64 ? 'numeric' : undefined} value=${value ?? ''} />
  <//>`;
}

export function capitalise(label: string): string {
  return label.charAt(0).toUpperCase() + label.slice(1);
}

/** Returns the fields of an animal that a form has. White space around a number does not count. */
export function readInputs(inputs: readonly Input[], form: Form): InputOf<'POST /pets'> {
  const read = ({ field, isInt64 }: Input) => {
    const text = form[field];
    return [field, isInt64 && text !== undefined ? readInt64(text.trim()) : text] as const;
  };
  return Object.fromEntries(inputs.map(read));
}

/** Returns a text that is no canonical integer unchanged, so that the API refuses it with an error message. */
function readInt64(text: string): bigint | string {
  return /^(?:0|-?[1-9]\d*)$/.test(text) ? BigInt(text) : text;
}
