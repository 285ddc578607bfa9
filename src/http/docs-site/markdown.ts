import { Marked, Renderer, type RendererObject } from 'marked';
import { renderCode } from './code.ts';
import { html, type Markup, toText, trusted } from './markup.ts';

const methodStart = /^<code>([A-Z]+)<\/code> /;
const renderMethod = (_: string, method: string) =>
  `<span class="method ${method.toLowerCase()}">${method}</span>`;

/** Maximum length of inline code that never breaks at its hyphens. */
const wholeCodeLengthMax = 28;

/** Renders a document as HTML, with anchors at its headings. `renderer` renders some elements in another way. */
export function renderDocument(text: string, nameAnchor = toAnchor, renderer: RendererObject = {}): Markup {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: heading }) {
        const anchor = nameAnchor(heading);
        const content = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${content}</h1>\n`;
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${content}</a></h${depth}>\n`;
      },

      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens).replace(methodStart, renderMethod);
        return `<a href="${href}">${content}</a>`;
      },

      codespan({ text: code }) {
        const whole = code.includes('-') && code.length <= wholeCodeLengthMax && html` class="whole"`;
        return html`<code${whole}>${code}</code>`.markup;
      },

      em({ text: mark, tokens }) {
        const [kind] = /^(?:beta|deprecated)/.exec(mark) ?? [];
        const content = this.parser.parseInline(tokens);
        return kind === undefined ? `<em>${content}</em>` : `<span class="mark ${kind}">${content}</span>`;
      },

      code({ text: code, lang = '' }) {
        const [language = '', file = ''] = lang.split(' ');
        const caption = file.includes('.') && html`<p class="caption"><code>${file}</code></p>\n`;
        return html`${caption}${renderCode(code, language)}\n`.markup;
      },

      table(token) {
        const labels = token.header.map((cell) => toText(this.parser.parseInline(cell.tokens)));
        const table = Renderer.prototype.table.call(this, token);
        let cells = 0;
        // On a narrow screen, guide.css shows a row as a block, and each cell with the heading of its column.
        const labelled = table.replaceAll('<td', (start: string) => {
          const label = labels[cells % labels.length];
          cells += 1;
          return html`${trusted(start)} data-label="${label}"`.markup;
        });
        return `<div class="table" tabindex="0">${labelled}</div>\n`;
      },
      ...renderer,
    },
  });
  return trusted(marked.parse(text, { async: false }));
}

/** Returns the anchor of a heading. GitHub uses the same anchors. */
export function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}
