import { renderDocument, toAnchor } from '../markdown.ts';
import { html, type Markup, trusted } from '../markup.ts';
import { placeTitles } from './operation-markdown.ts';

/** The start of a field: its name and its type. */
const fieldStart = /^`([^`]+)` \*/;
/** The start of one of several kinds of objects: its name. */
const kindStart = /^\*\*(\w+)\*\*/;

/**
 * Renders the Markdown of `writeProse`. Each field has an anchor, such as `query.limit`. What a list item contains below
 * its own text can be folded.
 */
export function renderProse(text: string): Markup {
  /** The parts of an anchor: that of the heading, then the names of the fields around. */
  let place: readonly string[] = [];
  const nameAnchor = (heading: string) => {
    place = [nameHeading(heading)];
    return place.join('.');
  };
  return renderDocument(text, undefined, nameAnchor, {
    listitem({ text: item, tokens: [own, ...others] }) {
      const line = own !== undefined && 'tokens' in own ? this.parser.parseInline(own.tokens ?? []) : item;
      const [, field] = fieldStart.exec(item) ?? [];
      const [, kind] = kindStart.exec(item) ?? [];
      const around = place;
      place = [...around, ...[field ?? kind ?? []].flat()];
      const anchor = place.join('.');
      const content = trusted(this.parser.parse(others));
      place = around;
      const folded = (summary: Markup) =>
        others.length > 0 &&
        html`<details class="nested"${kind && html` open`}><summary>${summary}</summary>${content}</details>`;
      if (field === undefined) return html`<li>${folded(trusted(line)) || trusted(line)}</li>`.markup;
      const linked = line.replace(/^<code>.*?<\/code>/, `<a href="#${anchor}">$&</a>`);
      return html`<li id="${anchor}">${trusted(linked)}${folded(html`Fields of <code>${field}</code>`)}</li>
`.markup;
    },
  });
}

function nameHeading(heading: string): string {
  const [, status] = /^`(\d+)`/.exec(heading) ?? [];
  if (status !== undefined) return `answer.${status}`;
  const [place] = Object.entries(placeTitles).find(([, title]) => title === heading) ?? [];
  return place ?? toAnchor(heading);
}
