import { cloneElement } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { html } from './html.js';
import { notify } from './notices.js';
import { Failure, readForm } from './parts.js';

/**
 * A dialog in which the operator confirms an action. `act` gets the values of the form. `onDone` gets the result of
 * `act`, and so does `notice` if it is a function, which returns the message to show. If `act` throws, the dialog stays
 * open and shows the error. With `isFirm`, only its button closes the dialog.
 */
export function ActDialog({
  label,
  title = `${label}?`,
  isDangerous,
  isFirm,
  act,
  notice,
  onDone,
  onClose,
  children,
}) {
  const dialog = useRef(null);
  const [failure, setFailure] = useState(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);

  async function submit(event) {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    try {
      const done = await act(readForm(event.target));
      dialog.current?.close();
      onClose();
      if (notice) notify(typeof notice === 'function' ? notice(done) : notice);
      onDone(done);
    } catch (error) {
      setFailure(error);
      setBusy(false);
    }
  }

  // A browser without `closedby` closes a dialog at the second Escape, unless the key is handled.
  const stay = (event) => isFirm && event.key === 'Escape' && event.preventDefault();
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
        ${!isFirm && html`<button type="button" onClick=${() => dialog.current?.close()}>Back</button>`}
        <button type="submit" class=${isDangerous ? 'danger' : 'main'} disabled=${isBusy}>${label}</button>
      </div>
    </form>
  </dialog>`;
}

/**
 * Shows one dialog at a time. Returns `open(element)`, and the open dialog as `shown`. The dialog gets `onClose`, which it
 * passes on to its ActDialog. It closes only its own dialog, because the close event may arrive after the next dialog has
 * opened.
 */
export function useDialog() {
  const [shown, setShown] = useState(null);
  const count = useRef(0);

  function open(element) {
    count.current += 1;
    const key = count.current;
    const onClose = () => setShown((now) => (now?.key === key ? null : now));
    setShown(cloneElement(element, { key, onClose }));
  }

  return { shown, open };
}
