/** Safe HTML. */
export interface Markup {
  readonly markup: string;
}

/** The content of a template. Text is escaped. Null, false and undefined become nothing. */
export type Content = Markup | string | number | bigint | null | false | undefined | readonly Content[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A template tag for HTML that escapes every text. */
export function html(strings: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  return { markup: String.raw({ raw: strings }, ...contents.map(toHtml)) };
}

/** Marks HTML as safe: this project made it from its own documents. */
export function trusted(markup: string): Markup {
  return { markup };
}

/** Escapes a text for HTML and for quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}

/** Joins pieces with the same content between them. */
export function join(contents: readonly Content[], between: Content): Markup {
  return trusted(contents.map(toHtml).join(toHtml(between)));
}

function toHtml(content: Content): string {
  if (content === null || content === undefined || content === false) return '';
  if (typeof content === 'string') return escapeHtml(content);
  if (typeof content === 'number' || typeof content === 'bigint') return String(content);
  return 'markup' in content ? content.markup : content.map(toHtml).join('');
}
