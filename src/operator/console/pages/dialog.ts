import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { asError } from './api.ts';
import { type Form, readForm } from './fields.ts';
import { notify } from './notices.ts';
import { Failure } from './parts.ts';

/** What `useDialog` gives to a dialog, which passes it on to its ActDialog. */
export interface Closing {
  readonly onClose: () => void;
}

/** `Done` is the result of `act`. */
interface ActDialogProps<Done> extends Closing {
  /** The text of the button. */
  readonly label: string;
  readonly title?: string;
  readonly isDangerous?: boolean;
  /** If true, only its button closes the dialog. */
  readonly isFirm?: boolean;
  /** If it throws, the dialog stays open and shows the error. */
  readonly act: (form: Form) => Promise<Done>;
  /** The message to show after the action. */
  readonly notice?: string | ((done: Done) => string);
  readonly onDone: (done: Done) => void;
  readonly children?: ComponentChildren;
}

/** A dialog in which the operator confirms an action. */
export function ActDialog<Done>(props: ActDialogProps<Done>) {
  const { label, title = `${label}?`, isDangerous, isFirm, act, notice, onDone, onClose, children } = props;
  const dialog = useRef<HTMLDialogElement | null>(null);
  const [failure, setFailure] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);

  async function submit(event: Event) {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    try {
      const done = await act(readForm(event));
      dialog.current?.close();
      onClose();
      if (notice !== undefined) notify(typeof notice === 'string' ? notice : notice(done));
      onDone(done);
    } catch (thrown) {
      setFailure(asError(thrown));
      setBusy(false);
    }
  }

  // A browser without `closedby` closes a dialog at the second Escape, unless the key is handled.
  const stay = (event: KeyboardEvent) => isFirm && event.key === 'Escape' && event.preventDefault();
  const back = () => dialog.current?.close();
  return html`<dialog
    ref=${dialog}
    closedby=${isFirm ? 'none' : undefined}
    onKeyDown=${stay}
    onClose=${onClose}
    aria-labelledby="dialog-title"
  >
    <form onSubmit=${submit}>
      <h2 id="dialog-title">${title}</h2>
      ${children}
      ${failure && html`<${Failure} failure=${failure} />`}
      <div class="acts">
        ${!isFirm && html`<button type="button" onClick=${back}>Back</button>`}
        <button type="submit" class=${isDangerous ? 'danger' : 'main'} disabled=${isBusy}>${label}</button>
      </div>
    </form>
  </dialog>`;
}

export type Dialogs = ReturnType<typeof useDialog>;

/**
 * Shows one dialog at a time. Returns the open dialog as `shown`, and `open`, whose argument makes the element of a dialog
 * with the given properties. Its `onClose` closes only this dialog, because the close event may arrive after the next
 * dialog has opened.
 */
export function useDialog() {
  const [last, setLast] = useState<{ readonly key: number; readonly shown: ComponentChildren } | null>(null);
  const count = useRef(0);

  function open(make: (own: Closing & { readonly key: number }) => ComponentChildren): void {
    count.current += 1;
    const key = count.current;
    const onClose = () => setLast((now) => (now?.key === key ? null : now));
    setLast({ key, shown: make({ key, onClose }) });
  }

  return { shown: last?.shown, open };
}
