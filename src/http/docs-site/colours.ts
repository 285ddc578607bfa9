import { createJavaScriptRegexEngine } from '@shikijs/engine-javascript';
import go from '@shikijs/langs/go';
import json from '@shikijs/langs/json';
import php from '@shikijs/langs/php';
import python from '@shikijs/langs/python';
import ruby from '@shikijs/langs/ruby';
import shell from '@shikijs/langs/shellscript';
import typescript from '@shikijs/langs/typescript';
import { codeToTokensBase, createShikiPrimitive } from '@shikijs/primitive';
import { html, type Markup } from './markup.ts';

/** The class of each kind of token, and the scopes of the grammars that have it. The style sheet gives it a colour. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  comment: ['comment', 'punctuation.definition.comment'],
  keyword: ['keyword', 'storage', 'variable.language'],
  string: ['string', 'punctuation.definition.string'],
  constant: ['constant', 'support.constant'],
  name: ['entity.name', 'support.function', 'support.type.property-name'],
};

const names = Object.keys(kinds);
/** A theme has colours and no classes, so each kind has a number as its colour. */
const toColour = (place: number) => `#00000${place + 1}`;
const theme = {
  name: 'kinds',
  fg: '#000000',
  bg: '#ffffff',
  settings: Object.values(kinds).map((scope, place) => ({
    scope: [...scope],
    settings: { foreground: toColour(place) },
  })),
};

/** The grammar of each language of a code block. Others stay plain. */
const grammars: Readonly<Record<string, string>> = {
  sh: 'shellscript',
  curl: 'shellscript',
  js: 'typescript',
  ts: 'typescript',
  typescript: 'typescript',
  json: 'json',
  python: 'python',
  php: 'php',
  ruby: 'ruby',
  go: 'go',
};

const block = /(<pre tabindex="0" data-language="([^"]*)"><code>)([^<]*)(?=<\/code>)/g;
const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/** Returns a function that colours the code blocks of a page by classes, so that a page needs no inline style. */
export function createColours(): (page: string) => string {
  const shiki = createShikiPrimitive({
    langs: [go, json, php, python, ruby, shell, typescript].flat(),
    themes: [theme],
    engine: createJavaScriptRegexEngine(),
  });

  function colour(code: string, lang: string): Markup {
    const lines = codeToTokensBase(shiki, code, { lang, theme: theme.name }).map((line) =>
      line.map(({ content, color }) => {
        const kind = names.find((_, place) => toColour(place) === color);
        return kind === undefined ? content : html`<span class="${kind}">${content}</span>`;
      }),
    );
    return html`${lines.map((line, place) => [place > 0 && '\n', line])}`;
  }

  return (page) =>
    page.replaceAll(block, (whole, start: string, language: string, escaped: string) => {
      const lang = grammars[language.toLowerCase()];
      if (lang === undefined) return whole;
      const code = escaped.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity);
      return start + colour(code, lang).markup;
    });
}
