import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { ActDialog, type Closing } from './dialog.ts';

interface SecretDialogProps extends Closing {
  readonly title: string;
  /** What the secret is, such as `key`. */
  readonly noun: string;
  readonly secret: string;
  readonly onDone: () => void;
  readonly children?: ComponentChildren;
}

/** Shows a secret that cannot be shown again. Only its button closes the dialog. */
export function SecretDialog({ title, noun, secret, children, ...own }: SecretDialogProps) {
  async function copy({ currentTarget: button }: Event) {
    if (!(button instanceof HTMLButtonElement)) return;
    try {
      await navigator.clipboard.writeText(secret);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Select and copy it by hand';
    }
  }
  return html`<${ActDialog}
    title=${title}
    label=${`I have copied the ${noun}`}
    isFirm
    act=${async () => {}}
    ...${own}
  >
    <p>The ${noun} is shown only once. It is valid immediately.</p>
    <pre class="secret" tabindex="0" aria-label=${`The ${noun}`}><code>${secret}</code></pre>
    <button type="button" onClick=${copy}>Copy</button>
    ${children}
  <//>`;
}
