import { type Content, html, type Markup } from './markup.ts';

export interface Tab {
  readonly label: string;
  readonly content: Content;
}

/**
 * Renders tabs as radio buttons, which work with the keyboard and without scripts. `name` must be unique on the page.
 */
export function renderTabs(name: string, legend: string, tabs: readonly Tab[]): Markup {
  const parts = tabs.map(({ label, content }, index) => {
    const id = `${name}-${label.toLowerCase()}`;
    const checked = index === 0 && html` checked`;
    return html`<input type="radio" name="${name}" id="${id}" value="${label}"${checked}><label for="${id}">${label}</label>
<div class="panel">${content}</div>`;
  });
  return html`<fieldset class="tabs"><legend class="unseen">${legend}</legend>${parts}</fieldset>`;
}

/** Renders a code block. On the page, copy.js adds a copy button. */
export function renderCode(code: string, language: string): Markup {
  return html`<pre tabindex="0" data-language="${language}"><code>${code}</code></pre>`;
}
