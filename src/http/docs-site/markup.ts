export interface Markup {
  readonly markup: string;
}

/** A value in a template. Strings are escaped. Null, false and undefined become an empty string. */
export type Content = Markup | string | number | null | false | undefined | readonly Content[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const characters = Object.fromEntries(
  Object.entries(entities).map(([character, entity]) => [entity, character]),
);

/** Template tag for HTML. It escapes every string in a placeholder. */
export function html(strings: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  return trusted(String.raw({ raw: strings }, ...contents.map(toHtml)));
}

/** Marks a string as safe HTML. Use it only for HTML from the project's own documents. */
export function trusted(markup: string): Markup {
  return { markup };
}

/** Returns the text of HTML: without tags and entities. */
export function toText(markup: string): string {
  return markup.replaceAll(/<[^>]*>/g, '').replaceAll(/&#?\w+;/g, (entity) => characters[entity] ?? entity);
}

function toHtml(content: Content): string {
  if (content === null || content === undefined || content === false) return '';
  if (typeof content === 'object') return 'markup' in content ? content.markup : content.map(toHtml).join('');
  return String(content).replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}
