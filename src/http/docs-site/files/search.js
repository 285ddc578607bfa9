/* The search dialog. The first use loads the index. Every search then runs in the browser. */
const foundMax = 30;
const { root, search } = document.body.dataset;
const opener = document.querySelector('button.search');
const dialog = document.createElement('dialog');
dialog.className = 'search';
dialog.setAttribute('aria-label', 'Search the documentation');
const box = Object.assign(document.createElement('input'), {
  type: 'text',
  placeholder: 'Search operations, fields, error codes and guides',
  autocomplete: 'off',
  spellcheck: false,
});
const list = Object.assign(document.createElement('ul'), { id: 'search-found', role: 'listbox' });
list.setAttribute('aria-label', 'Search results');
const status = Object.assign(document.createElement('p'), { className: 'status', role: 'status' });
for (const [name, value] of Object.entries({
  role: 'combobox',
  'aria-label': 'Search',
  'aria-expanded': 'true',
  'aria-controls': 'search-found',
  'aria-autocomplete': 'list',
}))
  box.setAttribute(name, value);
dialog.append(box, list, status);
document.body.append(dialog);

let index = null;
let chosen = 0;

async function loadIndex() {
  if (index !== null) return;
  const response = await fetch(search);
  if (!response.ok)
    throw new Error(`The search index cannot be loaded (HTTP ${response.status}). Reload the page.`);
  index = await response.json();
}

/** True if one letter more, less, other or swapped turns one word into the start of the other. */
function isAlmost(word, other) {
  if (word.length < 4 || Math.abs(word.length - other.length) > 2) return false;
  let start = 0;
  while (start < word.length && word[start] === other[start]) start += 1;
  const [left, right] = [word.slice(start), other.slice(start)];
  return (
    right.slice(1).startsWith(left.slice(1)) ||
    right.startsWith(left.slice(1)) ||
    right.slice(1).startsWith(left) ||
    right.startsWith((left[1] ?? '') + left[0] + left.slice(2))
  );
}

function hasAlmost(text, word) {
  return text.split(/[^\p{L}\p{N}_]+/u).some((other) => isAlmost(word, other));
}

/**
 * Scores an entry. A word scores most if it is the whole title, less at the start of the title, less inside the title,
 * less elsewhere, and least with a typing error. Returns 0 if any word is missing.
 */
function rate({ title, page, text }, words) {
  const name = title.toLowerCase();
  const others = `${page} ${text}`.toLowerCase();
  let score = 0;
  for (const word of words) {
    if (name === word) score += 20;
    else if (name.startsWith(word)) score += 10;
    else if (name.includes(word)) score += 5;
    else if (others.includes(word)) score += 1;
    else if (hasAlmost(name, word)) score += 3;
    else if (hasAlmost(others, word)) score += 0.5;
    else return 0;
  }
  return score;
}

function find(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return index
    .map((entry) => ({ entry, score: rate(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, foundMax)
    .map(({ entry }) => entry);
}

function addText(parent, tag, text, className) {
  const element = document.createElement(tag);
  element.textContent = text;
  if (className) element.className = className;
  parent.append(element);
}

function show() {
  const found = find(box.value);
  const options = found.map((entry, position) => {
    const option = Object.assign(document.createElement('li'), { id: `search-${position}`, role: 'option' });
    option.dataset.address = entry.address;
    addText(option, 'strong', entry.title);
    if (entry.page !== entry.title) addText(option, 'span', ` · ${entry.page}`);
    addText(option, 'span', entry.text, 'found-text');
    option.addEventListener('click', () => go(option));
    return option;
  });
  list.replaceChildren(...options);
  if (box.value.trim() === '')
    status.textContent = 'Type to search. Use the arrow keys to choose, Enter to open, Escape to close.';
  else status.textContent = found.length === 0 ? 'Nothing found.' : `${found.length} found`;
  choose(0);
}

function choose(position) {
  const options = [...list.children];
  chosen = options.length === 0 ? 0 : (position + options.length) % options.length;
  for (const [place, option] of options.entries())
    option.setAttribute('aria-selected', String(place === chosen));
  options[chosen]?.scrollIntoView({ block: 'nearest' });
  if (options.length === 0) box.removeAttribute('aria-activedescendant');
  else box.setAttribute('aria-activedescendant', `search-${chosen}`);
}

function go(option) {
  if (option === undefined) return;
  dialog.close();
  location.href = `${root}/docs${option.dataset.address.replace(/^(?!#|$)/, '/')}`;
}

async function open() {
  dialog.showModal();
  box.select();
  try {
    await loadIndex();
    show();
  } catch ({ message }) {
    status.textContent = message;
  }
}

box.addEventListener('input', () => index !== null && show());
box.addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step !== undefined) choose(chosen + step);
  else if (event.key === 'Enter') go(list.children[chosen]);
  else return;
  event.preventDefault();
});
dialog.addEventListener('click', (event) => {
  if (event.target === dialog) dialog.close();
});
document.addEventListener('keydown', (event) => {
  const isTyping = /^(?:INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  const isShortcut = event.key === 'k' && (event.ctrlKey || event.metaKey);
  if (dialog.open || !(isShortcut || (event.key === '/' && !isTyping))) return;
  event.preventDefault();
  open();
});
opener.hidden = false;
opener.addEventListener('click', open);
