import htm from 'htm';
import { h } from 'preact';

/** Creates elements from a template: `html\`<p>${text}</p>\``. It never parses values as HTML. */
export const html = htm.bind(h);
