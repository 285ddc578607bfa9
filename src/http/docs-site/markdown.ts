import { Marked } from 'marked';
import { type Markup, trusted } from './markup.ts';

const plain = new Marked();

/** Renders an OpenAPI description in Markdown as HTML. */
export function renderDescription(text: string): Markup {
  return trusted(plain.parse(text, { async: false }));
}

/** Renders inline Markdown as HTML, without a paragraph around it. */
export function renderInline(text: string): Markup {
  return trusted(plain.parseInline(text, { async: false }));
}
