import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import type { Address } from './api.ts';
import { useSession } from './session.ts';

/** Returns a function that tells whether the role of the session allows an operation, as its declaration says. */
export function useMay(): (address: Address) => boolean {
  const { acts } = useSession();
  return (address) => acts.includes(address);
}

interface Button {
  readonly label: string;
  /** The name for screen readers, if the label alone does not say what the button acts on. */
  readonly name?: string;
  readonly kind?: 'main' | 'danger';
  readonly onClick: () => void;
}

/** Returns a function that makes the button of an operation. It makes none for a role that may not call the operation. */
export function useActs(): (address: Address, button: Button) => ComponentChildren {
  const may = useMay();
  return (address, { label, name, kind, onClick }) =>
    may(address) &&
    html`<button type="button" class=${kind} aria-label=${name} onClick=${onClick}>${label}</button>`;
}
