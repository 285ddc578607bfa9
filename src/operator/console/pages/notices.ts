import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';

const shownMs = 8_000;
const listeners = new Set<(text: string) => void>();

/** Shows a message for `shownMs`. */
export function notify(text: string): void {
  for (const listener of listeners) listener(text);
}

/** Shows the latest message. Screen readers announce it. */
export function Notices() {
  const [text, setText] = useState('');
  useEffect(() => {
    let stopTimer: () => void = () => undefined;
    const show = (next: string) => {
      setText(next);
      stopTimer();
      const timer = setTimeout(() => setText(''), shownMs);
      stopTimer = () => clearTimeout(timer);
    };
    listeners.add(show);
    return () => listeners.delete(show);
  }, []);
  return html`<div class=${text ? 'notice' : 'unseen'} role="status" aria-live="polite">${text}</div>`;
}
