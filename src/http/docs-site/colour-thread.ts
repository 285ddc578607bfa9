import { parentPort, workerData } from 'node:worker_threads';
import { createJavaScriptRegexEngine } from '@shikijs/engine-javascript';
import bash from '@shikijs/langs/bash';
import go from '@shikijs/langs/go';
import json from '@shikijs/langs/json';
import php from '@shikijs/langs/php';
import python from '@shikijs/langs/python';
import ruby from '@shikijs/langs/ruby';
import typescript from '@shikijs/langs/typescript';
import { codeToTokensBase, createShikiPrimitive } from '@shikijs/primitive';
import { codeBlock } from './code.ts';
import { html, toText } from './markup.ts';

/** The kinds of words, each with its TextMate scopes. code.css gives each kind a colour for light and for dark. */
const kinds = {
  comment: ['comment', 'punctuation.definition.comment'],
  string: ['string', 'punctuation.definition.string'],
  keyword: ['keyword', 'storage', 'variable.language'],
  constant: ['constant'],
  name: ['entity.name', 'support.function', 'support.class'],
  member: ['support.type.property-name', 'meta.object-literal.key'],
};

/** The colours of the theme stand for the kinds, because an inline style would break the policy of the pages. */
const kindByColour = new Map(Object.keys(kinds).map((kind, index) => [`#00000${index + 1}`, kind]));
const plainColour = '#000000';
const theme = {
  name: 'kinds',
  fg: plainColour,
  bg: '#ffffff',
  settings: [...kindByColour].map(([foreground, kind]) => ({
    scope: kinds[kind as keyof typeof kinds],
    settings: { foreground },
  })),
};
const shiki = createShikiPrimitive({
  engine: createJavaScriptRegexEngine(),
  langs: [bash, go, json, php, python, ruby, typescript].flat(),
  langAlias: { curl: 'bash' },
  themes: [theme],
});

/** Colours a block, given as escaped HTML. */
function colour(escaped: string, lang: string): string {
  // By default, Shiki leaves the rest of a line plain after half a second, which a slow machine takes for its first.
  const lines = codeToTokensBase(shiki, toText(escaped), { lang, theme: theme.name, tokenizeTimeLimit: 0 });
  const write = ({ content, color = plainColour }: (typeof lines)[number][number]) => {
    const kind = kindByColour.get(color);
    return kind === undefined || content.trim() === '' ? content : html`<i class="${kind}">${content}</i>`;
  };
  return lines.map((tokens) => html`${tokens.map(write)}`.markup).join('\n');
}

const languages = new Set(shiki.getLoadedLanguages());
/** Blocks that were coloured before: many pages have the same errors. */
const coloured = new Map<string, string>();

const pages = (workerData as readonly string[]).map((page) =>
  page.replaceAll(codeBlock, (whole, start: string, name: string, code: string) => {
    const language = name.toLowerCase();
    if (!languages.has(language)) return whole;
    const known = coloured.get(language + code) ?? colour(code, language);
    coloured.set(language + code, known);
    return `${start}${known}`;
  }),
);
parentPort?.postMessage(pages);
