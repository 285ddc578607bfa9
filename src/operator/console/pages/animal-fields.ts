import { html } from 'htm/preact';
import { Choice, Field } from './fields.ts';
import type { Session } from './session.ts';

/** How a form shows a field of an animal. */
export type Input = Session['declared']['petInputs'][number];

interface PetInputProps {
  readonly input: Input;
  /** Absent for a new animal. */
  readonly value?: string;
}

export function PetInput({ input: { field, label, isInt64, choices, isRemovable }, value }: PetInputProps) {
  const id = `edit-${field}`;
  const title = capitalise(label);
  const all = isRemovable ? 'None' : undefined;
  if (choices !== null)
    return html`<${Choice} id=${id} label=${title} name=${field} value=${value} choices=${choices} all=${all} />`;
  return html`<${Field} id=${id} label=${title}>
    <input id=${id} name=${field} inputmode=${isInt64 ? 'numeric' : undefined} value=${value ?? ''} />
  <//>`;
}

export function capitalise(label: string): string {
  return label.charAt(0).toUpperCase() + label.slice(1);
}
