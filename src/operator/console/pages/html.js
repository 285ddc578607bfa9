import htm from 'htm';
import { h } from 'preact';

/** Creates Preact elements from a template: `html\`<p>${text}</p>\``. Values are never parsed as HTML. */
export const html = htm.bind(h);
