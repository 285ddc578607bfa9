/** HTML that needs no escaping. */
export interface Markup {
  readonly markup: string;
}

/** A value in a template. Strings are escaped. Null, false and undefined become an empty string. */
export type Content = Markup | string | number | bigint | null | false | undefined | readonly Content[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Template tag for HTML. It escapes every string in a placeholder. */
export function html(strings: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  return { markup: String.raw({ raw: strings }, ...contents.map(toHtml)) };
}

/** Marks a string as safe HTML. Use it only for HTML from the project's own documents. */
export function trusted(markup: string): Markup {
  return { markup };
}

/** Escapes a text for HTML and for quoted attributes. */
function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}

/** Returns the text of HTML: without tags, and with `escapeHtml` undone. */
export function toText(markup: string): string {
  return Object.entries(entities)
    .reverse()
    .reduce(
      (text, [character, entity]) => text.replaceAll(entity, character),
      markup.replaceAll(/<[^>]*>/g, ''),
    );
}

function toHtml(content: Content): string {
  if (content === null || content === undefined || content === false) return '';
  if (typeof content === 'string') return escapeHtml(content);
  if (typeof content === 'number' || typeof content === 'bigint') return String(content);
  return 'markup' in content ? content.markup : content.map(toHtml).join('');
}
