import { useEffect, useState } from 'preact/hooks';
import { html } from './html.js';

const shownMs = 8_000;
const listeners = new Set();

/** Shows a message for `shownMs`. */
export function notify(text) {
  for (const listener of listeners) listener(text);
}

/** Shows the latest message. Screen readers announce it. */
export function Notices() {
  const [text, setText] = useState('');
  useEffect(() => {
    let timer = 0;
    const show = (next) => {
      setText(next);
      clearTimeout(timer);
      timer = setTimeout(() => setText(''), shownMs);
    };
    listeners.add(show);
    return () => listeners.delete(show);
  }, []);
  return html`<div class=${text ? 'notice' : 'unseen'} role="status" aria-live="polite">${text}</div>`;
}
